export const mainHelp = `
Examples:
  gennai serve                                    start a server for this directory
  gennai run "replace colour with color in src/**/*.ts"
  gennai run --mode proposal "add a test for parse()"
  gennai run                                      a prompt, turn after turn
  gennai undo                                     take the last changes back
  gennai ledger verify                            check the record of what was done
  gennai ledger export --format bundle --out b.json   hand it to somebody who checks it offline
  gennai ledger purge --session 0a1b…             forget a session for good
`;

export const exitCodesHelp = `
Exit codes:
  0    done
  1    the job failed
  2    the command line or its input is wrong; nothing was done
  3    something was refused: by a rule, by you, or because nobody could be asked
  130  interrupted
`;

export const serveHelp = `
Examples:
  gennai serve --workspace ~/project
  gennai serve --backend openai-compatible --base-url http://127.0.0.1:8080/v1 --model qwen3
  gennai --serve --port 7777                      the older form

The token is made afresh and kept in a file only you can read; GENNAI_AUTH_TOKEN or --auth-token-file set your own.
`;

export const runHelp = `
Examples:
  gennai run "rename the function load to loadConfig"
  gennai run --mode proposal --refuse src/a.ts#2 "tidy up the imports"
  gennai run --yes --json "fix the failing test" | jq -r .result.text
  gennai run --intent INT-001 "add the missing test"
  gennai run --session 0a1b… "now the same for the tests"

In branch mode (the default) the agent never works on main, master, develop, release/* or the remote's default branch: it
goes to a branch of its own, ai-agent/… . Questions are answered y, n, n and a reason, t (for this turn) or s (for this
session); anything else is a no. Without a terminal and without --yes, every question is a no.
${exitCodesHelp}`;

export const ledgerHelp = `
Exit codes: 0 sound, 10 broken chain, 11 bad signature, 12 tail cut off, 13 missing file, 14 unknown key, 15 torn last
line, 16 malformed line, 17 unsigned, 18 behind the store, 19 differs from the store, 20 unsafe path, 21 no key.
`;

export const doctorHelp = `
Examples:
  gennai doctor
  gennai doctor --log nats://a:4222,b:4222,c:4222 --json
  GENNAI_AUTH_TOKEN_1=… GENNAI_AUTH_TOKEN_2=… gennai doctor --compare https://one.example https://two.example

The tokens of --compare are in GENNAI_AUTH_TOKEN_1, GENNAI_AUTH_TOKEN_2, … or in the files of --auth-token-file, in the order
of the servers; GENNAI_AUTH_TOKEN, or one file, is for all.

Exit codes: 0 nothing to mend, or the servers are the same; 1 something to mend, or they differ; 2 the command line is wrong.
`;

export const policyHelp = `
Examples:
  gennai policy check "git push --force"
  gennai policy check --write package-lock.json --json
  gennai policy check --jsonl < calls.jsonl

Exit codes: 0 it would run, 3 it would ask or be refused. With --jsonl the answers tell, and the code is 0.
`;
