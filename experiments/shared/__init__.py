"""What the experiments share: cells and limits, rows, measuring, comparisons, the claims."""
