"""The exercises of PPO: its task's reward, advantages with a critic, the critic's loss, the whole loss."""
