"""Right ways to attach adapters to every linear layer."""

from peft import LoraConfig, TaskType, get_peft_model

from shared.models import add_lora

ORACLE = None
LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def by_name(model, rank, alpha):
    config = LoraConfig(r=rank, lora_alpha=alpha, lora_dropout=0.0, target_modules=LINEAR, task_type=TaskType.CAUSAL_LM)
    return get_peft_model(model, config)


def without_a_task_type(model, rank, alpha):
    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=alpha, target_modules="all-linear"))


def frozen_first(model, rank, alpha):
    model.requires_grad_(False)
    config = LoraConfig(target_modules="all-linear", bias="none")
    config.r = rank
    config.lora_alpha = alpha
    return get_peft_model(model, config)


def by_the_helper(model, rank, alpha):
    return add_lora(model, r=rank, lora_alpha=alpha)


RIGHT = [by_name, without_a_task_type, frozen_first, by_the_helper]
EQUIVALENT = {
    "dropout: return -1.0": "peft makes no dropout of less than 0",
    "attached: return get_peft_model(model, LoraConfig(r=rank, lora_alpha=alpha, **chosen))": "the task's type changes "
    "neither adapters nor what they say",
}
