# Stands in for codex exec: takes the prompt, and answers with five lines.
cat > /dev/null
cat <<'LINES'
{"type":"thread.started","thread_id":"01a1e0d2-57ed-7cd3-a6c1-ca021b37004d"}
{"type":"turn.started"}
{"type":"item.started","item":{"id":"item_0","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null,"status":"in_progress"}}
{"type":"item.completed","item":{"id":"item_1","type":"agent_message","text":"Hello."}}
{"type":"turn.completed","usage":{"input_tokens":130,"cached_input_tokens":20,"cache_write_input_tokens":0,"output_tokens":25,"reasoning_output_tokens":5}}
LINES
