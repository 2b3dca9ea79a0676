"""Right ways to attach adapters to every linear layer."""

from peft import LoraConfig, get_peft_model

ORACLE = None


def without_a_task_type(model, rank, alpha):
    return get_peft_model(model, LoraConfig(r=rank, lora_alpha=alpha, target_modules="all-linear"))


def frozen_first(model, rank, alpha):
    model.requires_grad_(False)
    config = LoraConfig(target_modules="all-linear", bias="none")
    config.r = rank
    config.lora_alpha = alpha
    return get_peft_model(model, config)


RIGHT = [without_a_task_type, frozen_first]
EQUIVALENT = {
    "dropout: return -1.0": "peft makes no dropout of less than 0",
    "attached: return get_peft_model(model, LoraConfig(r=rank, lora_alpha=alpha, **chosen))": "the task's type changes "
    "neither adapters nor what they say",
}
