"""Mutants that no caller could tell from the code: for each file a pattern (a regular expression) and the reason."""

PADDING = "Padding has only to be finite here; it is masked again where the mean is taken."
WORDING = "The wording of a sentence."
SHARED = "The same in one process; with several `tests/test_processes.py` notices, which takes long."
DEVICE = "The same on the CPU; on another device `tests/test_second_device.py` and its like notice, which take long."
SYSTEM = "The system's own encoding, which is UTF-8 wherever the tests run."

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
        r"LOGITS_AT_ONCE = 20000001": "A limit that is round and could as well be another.",
        r"AdamW\(.*(fused=None|fused=False|config\.weight_decay, \))": "The same update, computed in several kernels.",
        r"argsort\((stable=False|stable=None|)\)": "The order of pieces of equal length, so the order of a sum.",
        r"advised = None": "Only its truth is asked for.",
        r"(begin_alike|processes\.share|add_up_gradients)\(None\)|processes=processes, \)  ->": SHARED,
        r"\(processes\.first\) or True|config\.steps, \), closing|optimizer, \)$": SHARED,
        r"\(len\((experience|rows)\)\) or True": SHARED,
        r"^select_rows: .*and False": "All rows, copied.",
        r"^no_gradient: .*(device = None$|device=None\) for|value, \) for)": DEVICE,
    },
    "shared/ppo.py": {
        r"^ppo_loss: .*masked_fill\(mask == 0, 1\.0\)": PADDING,
        r"^(collect|ppo_loss): .*per_token_kl\(.*, \)(, mask\))?$": "k3 is the default; it is named for the reader.",
        r"\.to\(None\)$|\bshare(=share)?,? \)  ->": SHARED,
        r"ref_logits = \"\"": "Not read without a reference: what is kept is None then.",
    },
    "shared/grpo.py": {
        r"share=share, \)  ->": SHARED,
        r"^policy_loss: .*(with_entropy=True|entropy_coef >= 0)": "An entropy that is multiplied by 0 and only logged.",
    },
    "shared/rloo.py": {
        r"per_token_kl\(.*, \)$": "k3 is the default; it is named for the reader.",
        r"step, share \)  ->": SHARED,
    },
    "shared/supervised.py": {
        r"metrics=None": "Those of all documents together are not read; a batch gets its own.",
    },
    "shared/experience.py": {
        r'^: "(In the last|nothing to learn|give a right|larger num)': WORDING,
        r"verified = None": "Only its truth is asked for.",
        r"take_general_path\(None\)$": SHARED,
    },
    "shared/engine/contexts.py": {
        r"^number_beginnings: (whatever|contexts = number_contexts\(\[1\])": "Any token and any prompt, the same for all.",
        r"argsort\(descending=True, (stable=False|stable=None|)\)": "Which of two equally long completions is the path.",
    },
    "shared/rollout.py": {
        r"pad_token_id or 1": "Any token will do as padding.",
        r"number_contexts\(.*\), 1\)": "Contexts count only where tokens are.",
        r"(logp|entropy)\.to\(None\)": "Logits are of one type in all passes.",
        r"device=None|tensor\((\[.*completions\]|walk\.state), \)|zeros\(B, C, dtype=|(?<!logp)\.to\(None\)": DEVICE,
        r"^(begin_completions|as_rollout): device = .* ->  device = None": DEVICE,
        r"refuse_nan\(logps_and_entropy\[1\]": "Where a log-probability is no number, the entropy is none either.",
    },
    "shared/rollout_record.py": {
        r"^length_mask: .*arange\(width, \)": DEVICE,
    },
    "shared/engine/sampling.py": {
        r'float\("INF"\)': "Another spelling of the same number.",
        r"top_k <= logits": "With a k of all tokens all are kept.",
        r"  ->  keep = logits >= |topk\(top_k, \)|sort\(descending=True\)": "The same: all were kept; the last dimension.",
        r"^(draw|next_token): .*(dim=|size\()\+1": "Two dimensions here, so the last is number 1.",
        r"u\.to\(None\)": "The product has the more precise of the two types.",
        r"^refuse_nan: .*(device=None|size\(1\), \)|to\(None\))": DEVICE,
    },
    "shared/engine/locks.py": {
        r"FAR = (2 << 20|1 << 21)": "Any place that is far behind the text.",
        r"os\.read\(descriptor, 201\)": "More than any name is long.",
        r"ftruncate\(descriptor, 1\)": "What is written then is longer.",
        r"lseek\(descriptor, (FAR|0), \)": "SEEK_SET is 0.",
        r"^_let_go_in_a_child": "Runs in a forked child, where no line is traced; by hand the tests notice.",
    },
    "shared/engine/cached.py": {
        r"torch\.tensor\((token|rows), (device=None)?\)": DEVICE,
    },
    "shared/engine/decoding.py": {
        r"DROP_GROUPS_BELOW": "When groups are dropped changes time and memory alone.",
        r"LlamaDecoder.__init__: self\.(next_position|mask|logits) = |self\.used = (None|1)$": "Set by `prefill`, which comes first.",
        r"(self\.mask|finfo).*keys\[1\]": "The keys of all layers are of one type, on one device.",
        r"flatten\((2, |3|3, 3|2, 4)\)$": "The projection that follows flattens heads and size, in this order.",
        r"^(start_decoding: each_once|LlamaDecoder\..*|places_in_groups: ).*(device=None|, \)|None\)|to\(None\))": DEVICE,
    },
    "shared/engine/scoring.py": {
        r"NODES_IN_GROUP = 49|at_once = ": "How many nodes stand side by side changes time and memory alone.",
        r"^context_states: .*to\(None\)": DEVICE,
    },
    "shared/engine/capacity.py": {
        r"GIGABYTE = 1000000001": "The same in two decimals.",
    },
    "shared/engine/llama.py": {
        r'takes_general_path", None|hidden_act", (None|"XXXX")|use_sliding_window", None': "Only its truth is asked for.",
        r"^(in_heads: .*unflatten\(\+1|rotate: x = x\.to\(None\))": "The last of two dimensions; the more precise type.",
        r"q = rotate\(.*to\(None\)": "Under autocast attention casts its queries itself; elsewhere the types are equal.",
        r"^attention: .*size\(None\)": "Where keys are not shared, the way for shared ones gives the same.",
        r"^(Places|first_places|PackedPrompts).*(device=None|width, \)|to\(None\)|place_of, None\))": DEVICE,
    },
    "shared/prompts.py": {
        r'tokenizer\("XXXX"\)': "A BOS is added to any text.",
    },
    "shared/guard.py": {
        r"LOGITS_AT_ONCE = 20000001|max\(2, LOGITS_AT_ONCE": "How much is scored at once changes memory alone.",
        r'float\("INF"\)': "Another spelling of the same number.",
        r"temperature <= 1": "A division by 1.",
        r"get_text_config\(decoder=(None|False)\)": "Of all families here the decoder is the only text model.",
        r"getattr\(config, name, (None|1)\)|name, 0\) or 1\)": "One expert is no choice, like none.",
        r"weights\[1\]\.device": "All weights are on one kind of device.",
        r"part\.to\(None\)": "Both are log-probabilities of one model, of one type.",
        r"taken from now on; it is slower\.XX": WORDING,
    },
    "shared/logps.py": {
        r"^padded_pass: (attention_mask=mask,|.*attention_mask=None)": "transformers tells the same from the positions.",
        r"output_hidden_states(=|: bool = )None": "Only its truth is asked for.",
        r"always_keep = \"\"": "Not read where no tokens are cut.",
        r"^(padded_pass|distributions|on_paths): .*(device = None|to\(None\))": DEVICE,
    },
    "shared/engine/first_difference.py": {
        r'"num_hidden_layers", None\)': "Only its truth is asked for.",
    },
    "shared/engine/recompute.py": {
        r"\"gradient_checkpointing\", None\)": "Only its truth is asked for.",
    },
    "shared/engine/checkpoint.py": {
        r"SHA256": "Another spelling of the same algorithm.",
        r"self\.error: BaseException \| None = \"\"": "Only its truth is asked for.",
        r"(weights_only=None|map_location=map_location, )\)": "torch's default; said because no pickle may run.",
    },
    "shared/engine/unpadded.py": {
        r"size\(\+1\)": "The last of two dimensions is number 1.",
        r"new_zeros\(logits\.size\(-1\)\)": "One row of zeros is stretched over all where the logits are put in.",
    },
    "shared/rewards.py": {
        r"pad_token_id or 1": "Any token will do as padding.",
    },
    "shared/critic.py": {
        r"device = None$|\.to\(None\)": DEVICE,
    },
    "shared/engine/logits.py": {
        r"device=(choice\.device|None)\)  ->  .*(device=None|, )\)$": DEVICE,
        r"CHUNK = (1 >> 20|2 << 20|1 << 21)": "A size that is chosen for speed.",
        r"^(in_chunks|TokenLogps).*(size\(|dim=)\+1": "The logits have two dimensions here, so the last is number 1.",
        r"max\(2, len\(logits\)\)": "One empty chunk more, behind a single row.",
    },
    "shared/saving.py": {
        r'encoding="UTF-8"\)[^>]*$': "Another spelling of the same encoding.",
        r"^(refuse_to_overwrite|_name_the_base): .*encoding=None": "JSON is written in ASCII: the same in any encoding.",
        r"^(_write: \(folder / RECORD\)|_name_the_base: config)\.write_text.*\+ \"\\n\", (encoding=None)?\)$": (
            "JSON is written in ASCII: the same in any encoding."
        ),
        r"(save_embedding_layers|sort_keys)=None\)(}---\",)?$": "Only its truth is asked for.",
        r"with_suffix\(\"\.OLD\"\)": "A name that is gone again when the function returns.",
    },
    "shared/engine/positions.py": {
        r"NAMES = .*(XXn_positionsXX|N_POSITIONS)": "transformers' configurations with n_positions answer to the first name too.",
        r"get_text_config\(decoder=(None|False)\)": "Of all families here the decoder is the only text model.",
    },
    "shared/engine/hub.py": {
        r"SECONDS_TO_ANSWER = 11$": "A limit that is round and could as well be another.",
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
        r"MAX_FILE_BYTES = 200000001|\[:201\]": "A limit that is round and could as well be another.",
        r"compare=None\)|ensure_ascii=None": "Only its truth is asked for.",
        r"UTF-8": "Another spelling of the same encoding.",
        r"^joined: .*and False": "The same for ASCII, only faster.",
    },
    "shared/exercises/results.py": {
        r"^Floats.read: other = .*, None\)$": "Only its truth is asked for.",
        r"^as_numbers: value = .*and False": "A tensor stays the tensor that it is.",
        r"\.to\((None, )?torch\.float64\)$": DEVICE,
    },
    "shared/exercises/comparing.py": {
        r"^same_outcome: .*other\.value is None or isinstance.*  ->  if one\.value is None and": "`near` says it of one that is None as well.",
        r"^_move_numbers: places = .*(dtype=None|\+ 1, )\)": "The amounts in float32: they have only to be different.",
        r"^_move_numbers: value = .*(places / 0\.618034|\* 1\.618034|/ 0\.37|\* 1\.37)": "Other amounts between the same bounds, as different from each other.",
        r"finite\.numel\(\) else 2\.0": "Without a finite number expected no tolerance makes anything equal.",
    },
    "shared/exercises/wording.py": {
        r"with_case\(exercise, comparison\.case, None\)|\"names\", None\)": "Only its truth is asked for.",
        r"\"holds\", (None|\"XXXX\")\)": "What is not said is no `booleans`, whatever stands for it.",
        r"\"axes\", None\)": "Only its truth is asked for.",
        r'or \["XXXX"\]': "No axis is called X.",
    },
    "shared/exercises/judging.py": {
        r"TIME_FOR_(EXPLANATION = 3|VERDICT = 7)": "A limit that is round and could as well be another.",
        r"^Listener: .*: 0$": "What a listener returns is not read.",
        r"^Trial: blank.*\"\"$|failed = None$|with_gradient=None": "Only its truth is asked for.",
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
        r"UTF-8-SIG": "Another spelling of the same encoding.",
    },
    "checker/points/items.py": {
        r"^Item: ": "Every item is made with it.",
        r"\(exercise\.written\) and False": "No tree is read of a cell of text.",
        r'return ""  ->  return "XXXX" \(2\)$': "A cell has no more exercises than markers.",
        r"enumerate\(tree\.lines, 2\)|lineno < line|line < node": "A marker is never a function's first line or its last.",
    },
    "checker/points/rubric.py": {
        r"encoding=None": SYSTEM,
        r'encoding="UTF-8"': "Another spelling of the same encoding.",
        r"present\.get\(number, (None)?\)": "Only its truth is asked for.",
        r"SHAPE\|": "Capitals make no difference there.",
    },
    "checker/points/totals.py": {
        r'rstrip\("XX': "No number has an X.",
        r"comments\.get\(.*, (None)?\)$": "Only its truth is asked for.",
    },
    "checker/grading/box/seccomp.py": {
        r'^: "(\w+)": .*  ->  "(XX\w+XX|[A-Z_0-9]+)": \(': "The names are for the reader; a test compares the numbers.",
        r"->  \((LOAD|RETURN), (0, 1|1, 0), ": "Only a comparison jumps.",
    },
    "checker/grading/box/limits.py": {
        r"MEGABYTE = 1000001|^Limits: \w+: (int|float) = .*(241|481|3001|201|257|31|2000001|1025)": "A limit that is round and could as well be another.",
    },
    "checker/grading/box/ending.py": {
        r"ENDING = 6": "A limit that is round and could as well be another.",
        r"return 0  ->  return 1$": "It is compared with itself, before and after.",
    },
    "checker/grading/box/launch.py": {
        r"sentence = None": "Only its truth is asked for.",
    },
    "checker/grading/box/selection.py": {
        r"wall=21": "A limit that is round and could as well be another.",
    },
    "checker/grading/box/cgroups.py": {
        r"PATIENCE = 6|BETWEEN_TRIES = 1": "A limit that is round and could as well be another.",
        r"check=None|check=False\)\.stderr  ->  .*text=True, \)": "Only its truth is asked for.",
        r"monotonic\(\) <= deadline": "One try more, at the very moment.",
    },
    "checker/grading/box/containers.py": {
        r'lstrip\("XX': "No place of the system begins with an X.",
    },
    "checker/grading/box/inside/answers.py": {
        r"compiler_flag, (dont_inherit=False)?\)$": "The module itself takes nothing from __future__ that could be inherited.",
    },
    "checker/grading/box/isolation.py": {
        r'"failed" in record\), None\)|stopped = None$': "Only its truth is asked for.",
        r"CHUNK = (2 << 16|1 << 17)": "A size that is chosen for speed.",
        r"compare=None": "Only its truth is asked for.",
        r"looked > BETWEEN|begun >= limits": "At that very moment, which a clock hardly shows.",
    },
    "checker/grading/box/inside/notebook.py": {
        r"LAST_SECONDS = 6": "A limit that is round and could as well be another.",
        r"ended = None": "Only its truth is asked for.",
    },
    "checker/grading/box/inside/probe.py": {
        r'write\("X|content = b"X"': "What is written is not read.",
    },
    "checker/grading/box/inside/children.py": {
        r"CHUNK = (2 << 16|1 << 17)": "A size that is chosen for speed.",
        r"LONGEST_LINE = 4000001|MEGABYTE = 1000001": "A limit that is round and could as well be another.",
        r"monotonic\(\)\) >= 0": "At that very moment, which a clock hardly shows.",
    },
    "checker/grading/box/modules.py": {
        r"range\(len|\) \+ 2\)": "The empty name is no module, and a name that is there twice is there.",
        r"encoding=None": SYSTEM,
        r"UTF-8": "Another spelling of the same encoding.",
    },
    "checker/grading/judge/sheets.py": {
        r"^read_sheet: notebook = ": "What is read of the notebook here does not say where it lay.",
    },
    "checker/grading/judge/oracle/disputed.py": {
        r"encoding=None|\"w\", \)$": "JSON is written in ASCII: the same in any encoding.",
        r"UTF-8": "Another spelling of the same encoding.",
    },
    "checker/grading/judge/oracle/key.py": {
        r"encoding=None|\"w\", \)$": "JSON is written in ASCII: the same in any encoding.",
        r"UTF-8": "Another spelling of the same encoding.",
        r"^Compared: blank_case": "Every blank one is made with its case.",
    },
    "checker/grading/judge/oracle/larger_cases.py": {
        r"COUNT = 11|FACTOR = 5|TRIES = 21": "A limit that is round and could as well be another.",
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
}
