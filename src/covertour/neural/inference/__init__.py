"""Tours of trained models without torch: compiled encoders and decoders."""
