"""Mutants that no caller could tell from the code: patterns (regular expressions) and the reason, of any file and of single ones.

Single files are those that compute, and those of the checker that read, run and give points. Of the others the mutants are a
drawn sample, whose survivors the table names.
"""

PADDING = "Padding has only to be finite here; it is masked again where the mean is taken."
WORDING = "The wording of a sentence."
SHARED = "The same in one process; with several `tests/test_processes.py` notices, which takes long."
DEVICE = "The same on the CPU; on another device `tests/test_second_device.py` and its like notice, which take long."
SYSTEM = "The system's own encoding, which is UTF-8 wherever the tests run."
TRUTH = "Only its truth is asked for."
ROUND = "A limit that is round and could as well be another."
UTF_8 = "UTF-8 by another of its names."
ANNOTATIONS = "A name for annotations alone."

# Of any file.
EVERYWHERE = {
    r'  ->  .*"UTF-8': UTF_8,
    r"  ->  .*encoding=None|encoding=.*  ->  (?!.*encoding=)": SYSTEM,
    r"  ->  .*(\bdevice ?= ?None|\.to\(None)|device.*  ->  (?!.*device)": DEVICE,
    r"False(?P<rest>.*)  ->  .*None(?P=rest)( \(\d+\))?$": TRUTH,
}

EQUIVALENT = {
    "shared/kl.py": {
        r"exact_kl: .*masked_fill\(forbidden, 1\.0\)$": "The difference is multiplied by a probability of 0 there.",
    },
    "shared/losses.py": {
        r"^(grpo_loss|clipped_value_loss): .*masked_fill\(padding, 1\.0\)$": PADDING,
    },
    "shared/engine/chance.py": {
        r"_generator\(seed, step, (1, 0|0, 1), TOKENS\)": "Both are set anew for each completion.",
        r"2\*\*63 - 2": "One seed fewer of 9 x 10^18.",
    },
    "shared/training.py": {
        r"AdamW\(.*(fused=None|fused=False|config\.weight_decay, \))": "The same update, computed in several kernels.",
        r"advised = None": TRUTH,
        r"(begin_alike|processes\.share)\(None\)|processes=processes, \)  ->": SHARED,
        r"\(processes\.first\) or True|config\.steps, \), closing|optimizer, \)$": SHARED,
    },
    "shared/updates.py": {
        r"argsort\((stable=False|stable=None|)\)": "The order of pieces of equal length, so the order of a sum.",
        r"add_up_gradients\(None\)": SHARED,
    },
    "shared/ppo.py": {
        r"^ppo_loss: .*masked_fill\(mask == 0, 1\.0\)": PADDING,
        r"^(collect|ppo_loss): .*per_token_kl\(.*, \)(, mask\))?$": "k3 is the default; it is named for the reader.",
        r"\.to\(None\)$|\bshare(=share)?,? \)  ->": SHARED,
        r"ref_logits = \"\"": "Not read without a reference: what is kept is None then.",
    },
    "shared/grpo.py": {
        r"^policy_loss: .*(with_entropy=True|entropy_coef >= 0)": "An entropy that is multiplied by 0 and only logged.",
    },
    "shared/rloo.py": {
        r"per_token_kl\(.*, \)$": "k3 is the default; it is named for the reader.",
    },
    "shared/supervised.py": {
        r"metrics=None": "Those of all documents together are not read; a batch gets its own.",
    },
    "shared/experience.py": {
        r'^: "(In the last|nothing to learn|give a right|larger num)': WORDING,
        r"verified = None": TRUTH,
        r"take_general_path\(None\)$": SHARED,
    },
    "shared/engine/contexts.py": {
        r"^number_beginnings: (whatever|contexts = number_contexts\(\[1\])": "Any token and any prompt, the same for all.",
        r"argsort\(descending=True, (stable=False|stable=None|)\)": "Which of two equally long completions is the path.",
    },
    "shared/rollout.py": {
        r"pad_token_id or 1": "Any token will do as padding.",
        r"number_contexts\(.*\), 1\)": "Contexts count only where tokens are.",
        r"refuse_nan\(logps_and_entropy\[1\]": "Where a log-probability is no number, the entropy is none either.",
    },
    "shared/engine/sampling.py": {
        r"size\(1\), \)": DEVICE,
        r'float\("INF"\)': "Another spelling of the same number.",
        r"top_k <= logits": "With a k of all tokens all are kept.",
        r"  ->  keep = logits >= |topk\(top_k, \)|sort\(descending=True\)": "The same: all were kept; the last dimension.",
        r"^(draw|next_token): .*(dim=|size\()\+1": "Two dimensions here, so the last is number 1.",
    },
    "shared/engine/shared_cache.py": {
        r"DROP_ROWS_BELOW": "When rows are dropped changes time and memory alone.",
        r"SharedCache.__init__: self\.next_position = |self\.used = (None|1)$": "Set when the prompts are read, which comes first.",
        r"(self\.mask|finfo|key_heads = |padding = ).*keys\[1\]": "The keys of all layers are of one type and shape, on one device.",
        r"flatten\((2, |3|3, 3|2, 4)\)$": "The projection that follows flattens heads and size, in this order.",
    },
    "shared/engine/scoring.py": {
        r"NODES_IN_GROUP = 49|at_once = ": "How many nodes stand side by side changes time and memory alone.",
    },
    "shared/engine/capacity.py": {
        r"GIGABYTE = 1000000001": "The same in two decimals.",
    },
    "shared/engine/llama.py": {
        r'takes_general_path", None|hidden_act", (None|"XXXX")|use_sliding_window", None': TRUTH,
        r"^(in_heads: .*unflatten\(\+1|rotate: x = x\.to\(None\))": "The last of two dimensions; the more precise type.",
        r"^attention: .*size\(None\)": "Where keys are not shared, the way for shared ones gives the same.",
    },
    "shared/guard.py": {
        r'float\("INF"\)': "Another spelling of the same number.",
        r"temperature <= 1": "A division by 1.",
        r"get_text_config\(decoder=(None|False)\)": "Of all families here the decoder is the only text model.",
        r"getattr\(config, name, (None|1)\)|name, 0\) or 1\)": "One expert is no choice, like none.",
        r"weights\[1\]\.device": "All weights are on one kind of device.",
        r"taken from now on; it is slower\.XX": WORDING,
    },
    "shared/logps.py": {
        r"^(plain_logps|padded_pass): (attention_mask=mask,|.*attention_mask=None)": "transformers tells the same from the positions.",
        r"output_hidden_states(=|: bool = )None": TRUTH,
        r"always_keep = \"\"": "Not read where no tokens are cut.",
    },
    "shared/engine/checkpoint.py": {
        r"SHA256": "Another spelling of the same algorithm.",
        r"self\.error: BaseException \| None = \"\"": TRUTH,
        r"(weights_only=None|map_location=map_location, )\)": "torch's default; said because no pickle may run.",
    },
    "shared/engine/unpadded.py": {
        r"size\(\+1\)": "The last of two dimensions is number 1.",
        r"new_zeros\(logits\.size\(-1\)\)": "One row of zeros is stretched over all where the logits are put in.",
    },
    "shared/rewards.py": {
        r"pad_token_id or 1": "Any token will do as padding.",
    },
    "shared/engine/logits.py": {
        r"CHUNK = (1 >> 20|2 << 20|1 << 21)": "A size that is chosen for speed.",
        r"^(in_chunks|TokenLogps).*(size\(|dim=)\+1": "The logits have two dimensions here, so the last is number 1.",
        r"max\(2, len\(logits\)\)": "One empty chunk more, behind a single row.",
    },
    "shared/saving.py": {
        r"with_suffix\(\"\.OLD\"\)": "A name that is gone again when the function returns.",
    },
    "shared/engine/positions.py": {
        r"NAMES = .*(XXn_positionsXX|N_POSITIONS)": "transformers' configurations with n_positions answer to the first name too.",
        r"get_text_config\(decoder=(None|False)\)": "Of all families here the decoder is the only text model.",
    },
    "shared/engine/hub.py": {
        r"SECONDS_TO_ANSWER = 11$": ROUND,
    },
    "checker/reading/archive.py": {
        r"read\(entry\.file_size \+ 2\)": "The end is found by asking for more than there is, however much more.",
    },
    "checker/reading/convert.py": {
        r"^: ANSI = .*x1B": "Another spelling of the same character.",
        r"^Section: cut": "Every section is made with it.",
        r'replace\("XX\\r\\nXX"': "A return at the end of a line rewrites nothing.",
        r'findall\("`\+", (source|text)\)\), default=1': "Two backticks are fewer than three.",
    },
    "checker/reading/notebook.py": {
        r"MAX_FILE_BYTES = 200000001|\[:201\]": ROUND,
        r"^joined: .*and False": "The same for ASCII, only faster.",
    },
    "shared/exercises/results.py": {
        r"\.to\(torch\.float64\)$": DEVICE,
        r"^Floats.read: other = .*, None\)$": TRUTH,
        r"^as_numbers: value = .*and False": "A tensor stays the tensor that it is.",
    },
    "shared/exercises/comparing.py": {
        r"^same_outcome: .*other\.value is None or isinstance.*  ->  if one\.value is None and": "`near` says it of one that is None as well.",
        r"^_move_numbers: places = .*(dtype=None|\+ 1, )\)": "The amounts in float32: they have only to be different.",
        r"^_move_numbers: value = .*(places / 0\.618034|\* 1\.618034|/ 0\.37|\* 1\.37)": "Other amounts between the same bounds, as different from each other.",
        r"finite\.numel\(\) else 2\.0": "Without a finite number expected no tolerance makes anything equal.",
    },
    "shared/exercises/wording.py": {
        r"with_case\(exercise, comparison\.case, None\)|\"names\", None\)": TRUTH,
        r"\"holds\", (None|\"XXXX\")\)": "What is not said is no `booleans`, whatever stands for it.",
        r"\"axes\", None\)": TRUTH,
    },
    "shared/exercises/judging.py": {
        r"TIME_FOR_(EXPLANATION = 3|VERDICT = 7)": ROUND,
        r"^Listener: .*: 0$": "What a listener returns is not read.",
        r"^Trial: blank.*\"\"$|failed = None$|with_gradient=None": TRUTH,
        r"^Explanation: remark": "Every explanation is made with it.",
        r"^judge: return _verdict_on\(.*(None, trial, time_left|trial, None)\)$": "Not read where nothing has failed.",
        r"^always_the_same: .*only is None": "A result that is none is a difference of another kind, which came first.",
    },
    "shared/exercises/arguments.py": {
        r"reshape\(-2\)": "numpy takes any negative length for the one that is left to it.",
    },
    "checker/reading/exercises.py": {
        r"^: NOTHING_ASKED = .*Todo\(None": "What it asks and what it is worth are read, its lines are not.",
        r"^Exercise: (filled_in|further): ": "Every exercise is made with it.",
        r"^_in_words: begins = 0": "Read only where a question was seen, which sets it.",
        r"^_answer: .*default=None\)": "A text up to None is all of it, like one up to its length.",
    },
    "checker/points/forms.py": {
        r"astimezone\(None\)": "A moment is the same number of seconds in every zone.",
    },
    "checker/points/items.py": {
        r"^Item: ": "Every item is made with it.",
        r"\(exercise\.written\) and False": "No tree is read of a cell of text.",
        r'return ""  ->  return "XXXX" \(2\)$': "A cell has no more exercises than markers.",
        r"enumerate\(tree\.lines, 2\)|lineno < line|line < node": "A marker is never a function's first line or its last.",
    },
    "checker/points/rubric.py": {
        r"present\.get\(number, (None)?\)": TRUTH,
        r"SHAPE\|": "Capitals make no difference there.",
    },
    "checker/points/totals.py": {
        r'rstrip\("XX': "No number has an X.",
        r"comments\.get\(.*, (None)?\)$": TRUTH,
    },
    "checker/grading/box/seccomp.py": {
        r'^: "(\w+)": .*  ->  "(XX\w+XX|[A-Z_0-9]+)": \(': "The names are for the reader; a test compares the numbers.",
        r"->  \((LOAD|RETURN), (0, 1|1, 0), ": "Only a comparison jumps.",
    },
    "checker/grading/box/limits.py": {
        r"MEGABYTE = 1000001|^Limits: \w+: (int|float) = .*(241|481|3001|201|257|31|2000001|1025)": ROUND,
    },
    "checker/grading/box/ending.py": {
        r"ENDING = 6": ROUND,
        r"return 0  ->  return 1$": "It is compared with itself, before and after.",
    },
    "checker/grading/box/launch.py": {
        r"sentence = None": TRUTH,
    },
    "checker/grading/box/selection.py": {
        r"wall=21": ROUND,
    },
    "checker/grading/box/cgroups.py": {
        r"PATIENCE = 6|BETWEEN_TRIES = 1": ROUND,
        r"check=None|check=False\)\.stderr  ->  .*text=True, \)": TRUTH,
        r"monotonic\(\) <= deadline": "One try more, at the very moment.",
    },
    "checker/grading/box/containers.py": {
        r'lstrip\("XX': "No place of the system begins with an X.",
    },
    "checker/grading/box/isolation.py": {
        r'"failed" in record\), None\)|stopped = None$': TRUTH,
        r"CHUNK = (2 << 16|1 << 17)": "A size that is chosen for speed.",
        r"looked > BETWEEN|begun >= limits": "At that very moment, which a clock hardly shows.",
    },
    "checker/grading/box/inside/notebook.py": {
        r"LAST_SECONDS = 6": ROUND,
        r"ended = None": TRUTH,
    },
    "checker/grading/box/inside/probe.py": {
        r'write\("X|content = b"X"': "What is written is not read.",
    },
    "checker/grading/box/inside/children.py": {
        r"CHUNK = (2 << 16|1 << 17)": "A size that is chosen for speed.",
        r"LONGEST_LINE = 4000001|MEGABYTE = 1000001": ROUND,
        r"monotonic\(\)\) >= 0": "At that very moment, which a clock hardly shows.",
    },
    "checker/grading/box/modules.py": {
        r"range\(len|\) \+ 2\)": "The empty name is no module, and a name that is there twice is there.",
    },
    "checker/grading/judge/worked_notebooks.py": {
        r"^read_worked_notebook: notebook = ": "What is read of the notebook here does not say where it lay.",
    },
    "checker/grading/judge/oracle/key.py": {
        r"^Compared: blank_case": "Every blank one is made with its case.",
    },
    "checker/grading/judge/oracle/larger_cases.py": {
        r"COUNT = 11|FACTOR = 5|TRIES = 21": ROUND,
    },
    "checker/grading/judge/oracle/partial_credit.py": {
        r"most_common\((None|2)\)": "Of those the first is taken.",
    },
    "checker/grading/judge/missing_exercises.py": {
        r"item\.key\.partition": "nbformat allows no slash in a cell's id.",
    },
    "checker/grading/judge/boxed_functions.py": {
        r'kind = "(XXwithout a referenceXX|WITHOUT A REFERENCE)"': "A key that is told from the other two, and read by nobody.",
    },
    "checker/rules/limit.py": {
        r"^bars: longest = .*default=((None|2)\) or 1|1\) or 2)$": "Where there is no cell there is no bar, and where no cell has a character every bar is empty.",
    },
    "checker/grading/work.py": {
        r"->  if len\(several\) >= 1 and": "One name differs from no other; it is a pass saved.",
    },
    "checker/grading/writing.py": {
        r'^write_similar: .*text_of\("XXXX", worked\.(handed_out|content)\)': "Of what is known nobody asks whose it is.",
    },
    "checker/grading/collect/attribution.py": {
        r"range\(len\(words\) \+ 2\), 2\)": "The same runs once more, and an empty one, which is nobody's name.",
    },
    "checker/grading/collect/platforms.py": {
        r"entry\.file_size <= LARGEST_METADATA": ROUND,
    },
    "checker/grading/collect/roster.py": {
        r"^Roster\._bearing: .*in self\._by_name\), None\)$": TRUTH,
    },
    "checker/grading/collect/uploads.py": {
        r'^differ_by_number: .*match\["name"\]\.upper\(\)': "Names are compared whatever their capitals, in either way.",
    },
    "checker/grading/disputes.py": {
        r"outcomes\.get\(check\.name, (None)?\)": TRUTH,
    },
    "checker/grading/table/class_folder.py": {
        r"^Folder\.seed: return int\(.*encoding=None": "Digits are the same in any encoding.",
        r"^Folder\.keep_forms: .*\"saved\": saved}, (indent=2)?\)\)$": "How JSON is indented, which programs read.",
    },
    "checker/grading/table/class_statistics.py": {
        r"MOST_SHOWN = 13": ROUND,
    },
    "checker/grading/table/grades.py": {
        r"^write: .*indent=2, ensure_ascii=False\)\)$": "How JSON is indented, which programs read.",
    },
    "checker/grading/table/gradescope.py": {
        r"^results: .*json\.dumps\(content, indent=2, (ensure_ascii=True)?\) \+": "JSON says the same in ASCII.",
    },
    "checker/grading/table/judging.py": {
        r"^Submitted: page: .*  ->  .* = None$": TRUTH,
        r"^Answer: judged: .* = True$": "Every answer is made with it.",
        r"_html\(solution, \"WORKED\"": "Any name that is no answer's.",
    },
    "checker/grading/table/lateness.py": {
        r"^late_rule: number = -1\.0  ->  number = -2\.0$": "Any number below 0, for it is refused.",
    },
    "checker/grading/table/scratch.py": {
        r"left\.name\.rpartition\(\"-\"\)": "The names that tempfile makes have no second dash.",
    },
    "checker/reading/options.py": {
        r"-> +LONGEST = 501 ": ROUND,
    },
    "checker/pages/quarto.py": {
        r'^_render: .*"(XXsaidXX|SAID)"': "The name of a file in a folder that is gone again when the function returns.",
    },
    "checker/pages/rendering.py": {
        r"-> +PATIENCE = 11 ": ROUND,
        r'^_engine: .*return "QUARTO"': "Every engine but `builtin` is Quarto.",
        r"^render_all: .*strict=(False|None)\)": "There is one report for each entry.",
    },
    "checker/pages/templates.py": {
        r"encoding=None\)": SYSTEM,
    },
    "checker/reading/syntax/settings.py": {
        r'getattr\(node, "attr", "XXXX"\) != name\]$': "No setting has this name.",
    },
    "checker/reading/slicing/slices.py": {
        r"^slice_of: if not notebooks\.makers\(name, None\):$": "Only asked whether there is any, and what the edition defines is there in any case.",
    },
    "checker/reading/syntax/statements.py": {
        r'"XXcellXX"|"CELL"': "The name of a file that nobody is shown.",
        r"^: Place = None$": "Only annotations name it.",
    },
    "checker/reading/syntax/trees.py": {
        r"^: MAX_DEPTH = 151 ": ROUND,
    },
    "checker/running/execution.py": {
        r"CELL_TIME_LIMIT = 1801": ROUND,
    },
    "shared/distill.py": {
        r"super\(\)\.parts\(prompts, None\)": "Read for the width of values of each token, and here are none.",
    },
    "shared/exercises/exercise.py": {
        r"^: Case = dict  ->  Case = None$": ANNOTATIONS,
        r"^Exercise: gradient: str \| None = None  ->  gradient: str \| None = \"\"$": TRUTH,
    },
}
