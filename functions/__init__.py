"""One thin module per Lambda function; `aws/` holds the adapters to AWS."""
