"""Training with torch: batches, the environment, REINFORCE, imitation, checkpoints."""
