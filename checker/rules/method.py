"""Mistakes that published GRPO notebooks really make, found in the code without running it.

Each rule looks for one way of writing one mistake and stays silent where the code could mean something else: a false
alarm costs more trust than a missed mistake.
"""

import ast
import re
from collections.abc import Iterator

from checker.rules.base import Remark, Submission, rule
from checker.rules.syntax import Code, called, difference, is_number, keyword, mentions, names, same

REFERENCE = r"(^|_)ref(erence)?(_|$)"
POLICY = r"log_?p(rob)?s?|policy|new"


@rule(
    "M001",
    "warning",
    why="When pad and EOS are one id, a mask made from ids also masks the EOS that the model sampled: the decision to "
    "stop gets no gradient, and completions grow.",
    wrong="tokenizer.pad_token = tokenizer.eos_token\nmask = completion_ids != tokenizer.pad_token_id",
    right="mask = torch.arange(C) < lengths[:, None]  # lengths count up to and including the first EOS",
)
def eos_masked_as_padding(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    shared = any(
        isinstance(t, ast.Attribute)
        and t.attr in ("pad_token", "pad_token_id")
        and mentions(node.value, r"^eos_token(_id)?$")
        for _, node in code.walk(ast.Assign)
        for t in node.targets
    )
    if not shared:
        return
    for cell, node in code.walk(ast.Compare):
        if (
            len(node.ops) == 1
            and isinstance(node.ops[0], ast.NotEq)
            and mentions(node.comparators[0], r"^pad(_token)?(_id)?$")
        ):
            if mentions(node.left, r"completion|response|generat|output|sequence|answer"):
                yield (
                    cell,
                    f"line {node.lineno} makes a mask by comparing ids with the pad id, and pad is EOS here",
                    "Build the mask from lengths: 1 up to and including the first EOS.",
                )


@rule(
    "M002",
    "warning",
    why="Prompts are padded on the left, so in every row the completion starts at the padded length. Cutting a row at "
    "its own unpadded length leaves prompt tokens in the completion.",
    wrong="lengths = attention_mask.sum(dim=1)\ncompletion = output[i, lengths[i]:]",
    right="completion_ids = output[:, prompt_ids.shape[1]:]",
)
def cut_at_the_unpadded_length(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    if not any(isinstance(n, ast.Constant) and n.value == "left" for _, n in code.walk(ast.Constant)):
        return
    lengths = {
        name
        for name, values in code.assignments.items()
        if any(_counts_real_tokens(call) for value in values for call in ast.walk(value))
    }
    generated = _assigned_from(code, "generate")
    for cell, node in code.walk(ast.Subscript):
        for part in ast.walk(node.slice):
            if (
                isinstance(part, ast.Slice)
                and part.lower is not None
                and part.upper is None
                and names(part.lower) & lengths
            ):
                if names(node.value) & generated:
                    yield (
                        cell,
                        f"line {node.lineno} cuts a left-padded row at its prompt's length without padding",
                        "Cut all rows at the padded length, `prompt_ids.shape[1]`.",
                    )


def _counts_real_tokens(node: ast.AST) -> bool:
    return (
        called(node) == "sum"
        and isinstance(node.func, ast.Attribute)
        and (
            mentions(node.func.value, r"attention_mask|prompt_mask")
            or any(
                isinstance(c, ast.Compare) and mentions(c, r"^pad_token_id$")
                for c in ast.walk(node.func.value)
            )
        )
    )


def _assigned_from(code: Code, function: str) -> set[str]:
    """Names that are assigned an expression with a call of `function` in it."""
    return {
        name
        for name, values in code.assignments.items()
        if any(called(part) == function for value in values for part in ast.walk(value))
    }


@rule(
    "M003",
    "warning",
    why="The decoded sequence holds the prompt. A reward that reads it pays for what the user wrote, and cutting the text "
    "at `len(prompt)` goes wrong where decoding changes a single character.",
    wrong="text = tokenizer.decode(output[0])\nreward = reward_fn(text)",
    right="completion = tokenizer.decode(output[0, prompt_ids.shape[1]:], skip_special_tokens=True)",
)
def reward_reads_the_prompt(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    generated = _assigned_from(code, "generate")
    whole = {
        name
        for name, values in code.assignments.items()
        for value in values
        if called(value) in ("decode", "batch_decode")
        and value.args
        and _whole_sequence(value.args[0], generated)
    }
    for cell, node in code.walk(ast.Call):
        if re.search("reward", called(node)) and any(
            isinstance(a, ast.Name) and a.id in whole for a in node.args
        ):
            yield (
                cell,
                f"line {node.lineno} gives the decoded sequence, prompt included, to the reward",
                "Decode the completion's tokens only: `output[:, prompt_ids.shape[1]:]`.",
            )
    for cell, node in code.walk(ast.Subscript):
        lower = node.slice.lower if isinstance(node.slice, ast.Slice) else None
        if isinstance(node.value, ast.Name) and node.value.id in whole and called(lower) == "len":
            yield (
                cell,
                f"line {node.lineno} cuts decoded text at the length of the prompt's string",
                "Cut the token ids at `prompt_ids.shape[1]` and decode the rest.",
            )


def _whole_sequence(node: ast.expr, generated: set[str]) -> bool:
    """Whether it is the output of `generate`, or one row of it, with no columns cut off."""
    if isinstance(node, ast.Subscript) and not isinstance(node.slice, (ast.Tuple, ast.Slice)):
        node = node.value
    return isinstance(node, ast.Name) and node.id in generated


@rule(
    "M004",
    "warning",
    why='`disable_adapter()` only makes a context manager: called on its own it changes nothing, and the "reference" is '
    "the policy itself. The KL is then 0 for ever.",
    wrong="model.disable_adapter()\nref_logps = logps_of(model)",
    right="with model.disable_adapter():\n    ref_logps = logps_of(model)",
)
def adapter_not_disabled(submission: Submission) -> Iterator[Remark]:
    for cell, node in submission.code.walk(ast.Expr):
        if called(node.value) == "disable_adapter":
            yield (
                cell,
                f"line {node.lineno} calls `disable_adapter()` without `with`",
                "Write `with model.disable_adapter():` and compute the reference inside.",
            )


@rule(
    "M005",
    "warning",
    why="The ratio corrects for the policy that sampled. Taken against the reference it leaves the clipping range for "
    "good as soon as the policy has moved, and the gradient stops.",
    wrong="ratio = torch.exp(logps - ref_logps)",
    right="ratio = torch.exp(logps - old_logps)",
)
def ratio_against_the_reference(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.Assign):
        if not (
            isinstance(node.targets[0], ast.Name)
            and re.search(r"(^|_)ratios?$", node.targets[0].id)
            and "log" not in node.targets[0].id
        ):
            continue
        if (
            re.search("kl", node.targets[0].id)
            or called(node.value) != "exp"
            or not (node.value.args or mentions(node.value, "."))
        ):
            continue
        exponent = node.value.args[0] if node.value.args else node.value.func.value
        pair = difference(code.resolve(exponent))
        if (
            pair
            and mentions(pair[1], REFERENCE)
            and not mentions(pair[0], REFERENCE)
            and _is_clipped(code, node.targets[0].id)
        ):
            yield (
                cell,
                f"line {node.lineno} takes the ratio against the reference",
                "Use the log-probabilities of the policy that sampled (`old_logps`); the reference belongs in the KL term.",
            )


def _is_clipped(code: Code, name: str) -> bool:
    """Whether the name is clipped anywhere: only then is it the surrogate's ratio and not a part of a KL estimate."""
    return any(called(node) in ("clamp", "clip") and name in names(node) for _, node in code.walk(ast.Call))


def _k3(code: Code, node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """(a, b) when the expression is exp(a - b) - (a - b) - 1 in some order of terms, else None."""
    terms: list[tuple[int, ast.expr]] = []

    def collect(part: ast.expr, sign: int) -> None:
        if isinstance(part, ast.BinOp) and isinstance(part.op, (ast.Add, ast.Sub)):
            collect(part.left, sign)
            collect(part.right, sign if isinstance(part.op, ast.Add) else -sign)
        else:
            terms.append((sign, part))

    if not (isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))):
        return None
    collect(node, 1)
    exponentials = [(s, t) for s, t in terms if called(t) == "exp"]
    if (
        len(exponentials) != 1
        or exponentials[0][0] != 1
        or not any(s == -1 and is_number(t, 1) for s, t in terms)
        or not 3 <= len(terms) <= 4
    ):
        return None
    call = exponentials[0][1]
    exponent = code.resolve(call.args[0] if call.args else call.func.value)
    return difference(exponent)


@rule(
    "M006",
    "warning",
    why="k3 = exp(log_r) - log_r - 1 is the estimator already; half of it is half the penalty that beta says. (k2 has the "
    "factor one half.)",
    wrong="kl = 0.5 * (torch.exp(log_r) - log_r - 1)",
    right="kl = torch.exp(log_r) - log_r - 1",
)
def k3_halved(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.BinOp):
        halved = node.right if isinstance(node.op, ast.Mult) and is_number(node.left, 0.5) else None
        if (isinstance(node.op, ast.Div) and is_number(node.right, 2, 2.0)) or (
            isinstance(node.op, ast.Mult) and is_number(node.right, 0.5)
        ):
            halved = node.left
        if halved is not None and _k3(code, halved):
            yield cell, f"line {node.lineno} halves the k3 estimate", "Leave the factor out."


@rule(
    "M007",
    "warning",
    why="Samples come from the policy, so k3 needs log_r = ref_logps - logps. With the sign reversed it estimates another "
    "quantity with a huge variance.",
    wrong="log_r = logps - ref_logps\nkl = torch.exp(log_r) - log_r - 1",
    right="log_r = ref_logps - logps\nkl = torch.exp(log_r) - log_r - 1",
)
def kl_reversed(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.BinOp):
        pair = _k3(code, node)
        if pair and mentions(pair[1], REFERENCE) and not mentions(pair[0], REFERENCE):
            yield cell, f"line {node.lineno} has the KL the wrong way round", "Use log_r = ref_logps - logps."


@rule(
    "M008",
    "warning",
    why="logps - ref_logps is k1: as a term of the loss its gradient has mean 0, so it holds nothing back.",
    wrong="loss = policy_loss + beta * (logps - ref_logps).mean()",
    right="loss = policy_loss + beta * (torch.exp(log_r) - log_r - 1).mean()",
)
def k1_as_a_loss(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.Assign):
        if not (isinstance(node.targets[0], ast.Name) and "loss" in node.targets[0].id):
            continue
        for part in ast.walk(node.value):
            if (
                isinstance(part, ast.BinOp)
                and isinstance(part.op, ast.Mult)
                and mentions(part.left, r"beta|kl_coe")
            ):
                term = code.resolve(part.right)
                if called(term) in ("mean", "sum") and isinstance(term.func, ast.Attribute):
                    term = code.resolve(term.func.value)
                pair = difference(term)
                if (
                    pair
                    and mentions(pair[1], REFERENCE)
                    and mentions(pair[0], POLICY)
                    and not mentions(pair[0], REFERENCE)
                ):
                    yield (
                        cell,
                        f"line {node.lineno} uses logps - ref_logps as the KL term of a loss",
                        "Use k3, or subtract it from the reward instead.",
                    )


def _centred(node: ast.AST) -> ast.expr | None:
    """x of an expression `x - x.mean(...)` or `x - mean`."""
    pair = difference(node)
    return (
        pair[0]
        if pair
        and mentions(pair[1], r"mean|(^|_)mu$|baseline")
        and mentions(pair[0], r"reward|return|score|^r$|group")
        else None
    )


@rule(
    "M009",
    "warning",
    why="A group whose rewards are all equal has standard deviation 0: the advantages, the loss and then every weight "
    "become nan.",
    wrong="advantages = (rewards - rewards.mean()) / rewards.std()",
    right="advantages = (rewards - mean) / (std + 1e-4)",
)
def no_epsilon(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.BinOp):
        if isinstance(node.op, ast.Div) and _centred(node.left) is not None:
            divisor = code.resolve(node.right)
            if called(divisor) in ("std", "stdev", "pstdev"):
                yield (
                    cell,
                    f"line {node.lineno} divides by a standard deviation that can be 0",
                    "Add a small number: `/ (std + 1e-4)`.",
                )


@rule(
    "M010",
    "note",
    why="torch.std divides by G - 1. With G = 2 every advantage is then 0.71 of what the paper's formula gives. Both are "
    "in use; say which one you mean.",
    wrong="std = rewards.view(-1, G).std(dim=1)",
    right="std = rewards.view(-1, G).std(dim=1, correction=0)",
)
def sample_standard_deviation(submission: Submission) -> Iterator[Remark]:
    for cell, node in submission.code.walk(ast.Call):
        if (
            called(node) == "std"
            and isinstance(node.func, ast.Attribute)
            and keyword(node, "dim", "keepdim") is not None
        ):
            if mentions(node.func.value, r"reward|group") and keyword(node, "correction", "unbiased") is None:
                yield (
                    cell,
                    f"line {node.lineno} takes the sample standard deviation of a group (divides by G - 1)",
                    "Pass `correction=0`, or say that you want the sample's.",
                )


@rule(
    "M011",
    "warning",
    why="Normalised over the whole batch, an easy prompt pushes up everything that was sampled for it, right or wrong.",
    wrong="rewards = rewards.view(-1, G)\nadvantages = (rewards - rewards.mean()) / (rewards.std() + 1e-4)",
    right="advantages = (rewards - rewards.mean(dim=1, keepdim=True)) / (rewards.std(dim=1, keepdim=True) + 1e-4)",
)
def normalised_over_the_batch(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    for cell, node in code.walk(ast.BinOp):
        pair = difference(node)
        if (
            not pair
            or called(pair[1]) != "mean"
            or pair[1].args
            or pair[1].keywords
            or not isinstance(pair[1].func, ast.Attribute)
        ):
            continue
        if same(pair[0], pair[1].func.value) and mentions(pair[0], "reward") and _is_grouped(code, pair[0]):
            yield (
                cell,
                f"line {node.lineno} subtracts the mean of the whole batch from rewards in groups",
                "Take the mean over dim=1.",
            )


def _is_grouped(code: Code, node: ast.expr) -> bool:
    """Whether the expression is plainly a (prompts, G) view."""
    values = code.assignments.get(node.id, []) if isinstance(node, ast.Name) else [node]
    return len(values) >= 1 and all(
        called(value) in ("view", "reshape", "unflatten") and len(value.args) >= 2 for value in values
    )


@rule(
    "M012",
    "warning",
    why="With one completion the reward equals the group's mean: every advantage is 0 and nothing is learned.",
    wrong="num_generations = 1",
    right="num_generations = 8",
)
def group_of_one(submission: Submission) -> Iterator[Remark]:
    pattern = r"^(num_generations|group_size|num_return_sequences_per_prompt)$"
    code = submission.code
    for cell, node in code.walk(ast.Assign):
        if (
            isinstance(node.targets[0], ast.Name)
            and re.match(pattern, node.targets[0].id, re.IGNORECASE)
            and is_number(node.value, 0, 1)
        ):
            yield (
                cell,
                f"line {node.lineno} sets a group of {node.value.value}",
                "Use at least 2 completions for each prompt; 4 to 16 are usual.",
            )
    for cell, node in code.walk(ast.Call):
        if (
            called(node) in ("GRPOConfig",)
            and (value := keyword(node, "num_generations")) is not None
            and is_number(value, 0, 1)
        ):
            yield (
                cell,
                f"line {node.lineno} sets a group of {value.value}",
                "Use at least 2 completions for each prompt; 4 to 16 are usual.",
            )


@rule(
    "M013",
    "warning",
    why="The model's text is untrusted. `eval` runs whatever it says: files, the network, an endless loop.",
    wrong="value = eval(completion)",
    right="value = parse_expression(completion)  # a small parser, see shared/tasks/arithmetic.py",
)
def model_output_executed(submission: Submission) -> Iterator[Remark]:
    for cell, node in submission.code.walk(ast.Call):
        if (
            isinstance(node.func, ast.Name)
            and node.func.id in ("eval", "exec")
            and node.args
            and not isinstance(node.args[0], ast.Constant)
        ):
            yield (
                cell,
                f"line {node.lineno} calls `{node.func.id}` on text",
                "Parse it instead, and give 0 to what does not parse.",
            )


TRAIN, EVAL = r"(^|_)train(ing)?(_|$)", r"(^|_)(eval(uation)?|test|val(id(ation)?)?|held_?out)(_|$)"


@rule(
    "M014",
    "warning",
    why="Evaluated on what it was trained on, a model that has learned the answers by heart looks best.",
    wrong="train_rows = make(100, seed=0)\neval_rows = make(100, seed=0)",
    right='train_rows = task.dataset("train", 100)\neval_rows = task.dataset("eval", 100)',
)
def evaluated_on_the_training_set(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    assigned = [(cell, node) for cell, node in code.walk(ast.Assign) if isinstance(node.targets[0], ast.Name)]
    data = r"row|data|set|prompt|example|problem|question|pair|sample"
    train = [
        (node.targets[0].id, node.value)
        for _, node in assigned
        if re.search(TRAIN, node.targets[0].id) and re.search(data, node.targets[0].id)
    ]
    for cell, node in assigned:
        name = node.targets[0].id
        if not (re.search(EVAL, name) and re.search(data, name)):
            continue
        for train_name, value in train:
            copied = isinstance(node.value, ast.Name) and node.value.id == train_name
            made_alike = isinstance(value, ast.Call) and _seeded(value) and same(value, node.value)
            if copied or made_alike:
                yield (
                    cell,
                    f"line {node.lineno}: {name} is made of the same items as {train_name}",
                    "Split the items themselves, for instance by a hash, so that the two cannot overlap.",
                )


def _seeded(call: ast.Call) -> bool:
    """Whether a call gives the same result twice: it has a constant seed, or no randomness in sight is decided by it."""
    return isinstance(keyword(call, "seed", "random_state"), ast.Constant)


@rule(
    "M015",
    "warning",
    why="Tokens are drawn from the tempered distribution and scored under another one: the ratio is not 1 before the "
    "first update, and the gradient is that of neither.",
    wrong="model.generate(..., temperature=0.7)\nlogps = logits.log_softmax(-1)",
    right="logps = (logits / 0.7).log_softmax(-1)",
)
def temperature_not_scored(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    scored = any(
        called(node) in ("log_softmax", "cross_entropy", "logsumexp") for _, node in code.walk(ast.Call)
    )
    tempered = any(
        isinstance(node.op, ast.Div)
        and mentions(node, r"logits?$")
        and (mentions(node.right, r"temp|tau") or isinstance(code.resolve(node.right), ast.Constant))
        for _, node in code.walk(ast.BinOp)
    )
    if not scored or tempered:
        return
    for cell, node in code.walk(ast.Call):
        if called(node) == "generate" and getattr(keyword(node, "do_sample"), "value", True) is not False:
            value = code.resolve(keyword(node, "temperature") or ast.Constant(1.0))
            if (
                isinstance(value, ast.Constant)
                and isinstance(value.value, (int, float))
                and value.value not in (0, 1)
                and _in_training(code, cell, node)
            ):
                yield (
                    cell,
                    f"line {node.lineno} samples at temperature {value.value}, and the log-probabilities are computed at 1",
                    "Divide the logits by the temperature before `log_softmax`.",
                )


def _in_training(code: Code, cell: int, call: ast.Call) -> bool:
    """Whether the cell (or the function around the call) also computes log-probabilities or a loss."""
    tree = next(tree for tree in code.trees if tree.cell == cell)
    return any(called(node) in ("log_softmax", "backward", "cross_entropy") for node in ast.walk(tree.module))


@rule(
    "M016",
    "note",
    why="With dropout on, the same tokens get other probabilities each time: sampling with `eval()` and scoring with "
    "`train()` makes a ratio that is not 1 before the first update.",
    wrong="model.eval(); out = model.generate(...)\nmodel.train(); logps = logps_of(model, out)",
    right="Keep `model.eval()` in both passes; gradients do not need `train()`.",
)
def dropout_in_one_pass(submission: Submission) -> Iterator[Remark]:
    for cell, function in submission.code.walk(ast.FunctionDef):
        order = [(node.lineno, called(node)) for node in ast.walk(function) if isinstance(node, ast.Call)]
        steps = [name for _, name in sorted(order) if name in ("eval", "generate", "train", "log_softmax")]
        if "eval,generate,train,log_softmax" in ",".join(steps):
            line = next(line for line, name in sorted(order) if name == "train")
            yield (
                cell,
                f"line {line} switches to `train()` between sampling and scoring",
                "Leave the model in `eval()` for both, so that dropout is off.",
            )


@rule(
    "M017",
    "warning",
    why="A loss of KL, value or entropy terms alone has no reward in it: the policy is only pulled to the reference.",
    wrong="loss = value_loss + beta * kl.mean()\nloss.backward()",
    right="loss = policy_loss + value_loss + beta * kl.mean()",
)
def no_policy_gradient(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    backward = {
        node.func.value.id
        for _, node in code.walk(ast.Call)
        if called(node) == "backward"
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
    }
    for cell, node in code.walk(ast.Assign):
        if (
            isinstance(node.targets[0], ast.Name)
            and node.targets[0].id in backward
            and len(code.assignments[node.targets[0].id]) == 1
        ):
            used = {
                name
                for name in names(node.value)
                if name not in ("mean", "sum", "torch", "item", "self", "float")
            }
            if (
                used
                and all(
                    re.fullmatch(r"(\w*(kl|value|critic|vf|entropy|beta|coef|coeff)\w*)", name, re.IGNORECASE)
                    for name in used
                )
                and any("kl" in n.lower() for n in used)
            ):
                yield (
                    cell,
                    f"line {node.lineno}: the loss has no policy-gradient term",
                    "Add the surrogate: minus advantage times ratio (or log-probability).",
                )


@rule(
    "M018",
    "warning",
    why="-100 is the mark of positions that a loss ignores. As an index of `gather` it raises, or reads from the end.",
    wrong="labels[mask == 0] = -100\nlogps.gather(-1, labels[..., None])",
    right="logps.gather(-1, labels.clamp(min=0)[..., None]) * mask",
)
def ignore_index_gathered(submission: Submission) -> Iterator[Remark]:
    code = submission.code
    marked = set()
    for _, node in code.walk(ast.Assign):
        is_mark = (
            isinstance(node.value, ast.UnaryOp)
            and isinstance(node.value.op, ast.USub)
            and is_number(node.value.operand, 100)
        )
        if (
            is_mark
            and isinstance(node.targets[0], ast.Subscript)
            and isinstance(node.targets[0].value, ast.Name)
        ):
            marked.add(node.targets[0].value.id)
    for cell, node in code.walk(ast.Call):
        if called(node) == "gather" and marked:
            index = node.args[-1] if node.args else keyword(node, "index")
            if (
                index is not None
                and names(index) & marked
                and not mentions(index, r"clamp|where|masked_fill|clip|relu")
            ):
                yield (
                    cell,
                    f"line {node.lineno} gathers with labels that hold -100",
                    "Clamp the labels at 0 and mask the result.",
                )


@rule(
    "M019",
    "warning",
    why="Sampling with gradients on keeps every forward pass of every token in memory, and nothing can flow through a "
    "sampled token anyway.",
    wrong="probs = model(ids).logits[:, -1].softmax(-1)\ntoken = torch.multinomial(probs, 1)",
    right="with torch.no_grad():\n    ...",
)
def sampled_inside_the_graph(submission: Submission) -> Iterator[Remark]:
    for tree in submission.code.trees:
        quiet = set()
        for node in ast.walk(tree.module):
            heads = (
                node.items
                if isinstance(node, ast.With)
                else node.decorator_list
                if isinstance(node, ast.FunctionDef)
                else []
            )
            if any(
                mentions(getattr(head, "context_expr", head), r"^(no_grad|inference_mode|set_grad_enabled)$")
                for head in heads
            ):
                quiet |= set(map(id, ast.walk(node)))
        for node in ast.walk(tree.module):
            if isinstance(node, ast.FunctionDef) and id(node) not in quiet:
                inside = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
                draws = [n for n in inside if called(n) == "multinomial" and id(n) not in quiet]
                forward = [
                    n
                    for n in inside
                    if isinstance(n.func, ast.Name)
                    and re.search(r"model|policy", n.func.id)
                    and id(n) not in quiet
                ]
                if draws and forward and any(isinstance(n, (ast.For, ast.While)) for n in ast.walk(node)):
                    yield (
                        tree.cell,
                        f"line {draws[0].lineno} samples tokens with gradients on",
                        "Put the sampling loop under `torch.no_grad()`.",
                    )


@rule(
    "M020",
    "note",
    why="Each call reads the prompt again. One call with `num_return_sequences=G`, or the prompts repeated, is several "
    "times faster.",
    wrong="for _ in range(num_generations):\n    model.generate(**inputs)",
    right="model.generate(**inputs, num_return_sequences=num_generations)",
)
def one_generate_per_completion(submission: Submission) -> Iterator[Remark]:
    for cell, node in submission.code.walk(ast.For, ast.ListComp):
        iterable = node.iter if isinstance(node, ast.For) else node.generators[0].iter
        if called(iterable) == "range" and mentions(
            iterable, r"^(G|num_generations|group_size|NUM_GENERATIONS|GROUP_SIZE)$"
        ):
            if any(called(n) == "generate" for n in ast.walk(node)):
                yield (
                    cell,
                    f"line {node.lineno} calls `generate` once for each completion",
                    "Ask for all completions of a prompt in one call.",
                )


RULES = [
    eos_masked_as_padding,
    cut_at_the_unpadded_length,
    reward_reads_the_prompt,
    adapter_not_disabled,
    ratio_against_the_reference,
    k3_halved,
    kl_reversed,
    k1_as_a_loss,
    no_epsilon,
    sample_standard_deviation,
    normalised_over_the_batch,
    group_of_one,
    model_output_executed,
    evaluated_on_the_training_set,
    temperature_not_scored,
    dropout_in_one_pass,
    no_policy_gradient,
    ignore_index_gathered,
    sampled_inside_the_graph,
    one_generate_per_completion,
]
