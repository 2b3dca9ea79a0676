"""The toy tasks: for each one the data, the oracle, the reward, and the documents that teach it to the embedded model."""
