"""What people type and see: the command grammar, the cards, the wording (English, Chinese), the Bolt listeners."""
