"""No exercises: what several of them share, slips, cases, small worlds and tables."""
