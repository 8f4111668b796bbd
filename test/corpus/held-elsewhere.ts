/**
 * Cases that a test of the part itself holds: by the test's file, words of its title, and the cases. They are not tried a second
 * time here; `corpus.test.ts` checks that those tests are there.
 */
const held: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "packages/protocol/test/canonical-json.test.ts": {
    "sorts keys by UTF-16 code unit": "APH-002",
    "a hole in an array": "APH-011",
  },
  "packages/protocol/test/strict-json.test.ts": {
    "accepts nothing that JSON.parse refuses": "MOD-003",
    "reads %s as one number": "APH-003",
    "unsafe_number at [1]": "APH-005",
    "duplicate_key at risk_level": "APH-007",
    "duplicate_key at a": "APH-008",
    "lone_surrogate at a": "APH-012",
    "has limits, before anything is built": "APH-028",
  },
  "packages/protocol/test/validate-rina-output.test.ts": {
    "forms of Unicode are different plans": "APH-013",
    "an unknown key of an action": "APH-015",
    "any change of a plan changes its hash": "APH-018",
    "reject a risk_level that is none": "APT-027",
    "reject an empty verification_plan": "APT-028",
    "a step that depends on none": "APT-023",
  },
  "packages/sessions/test/plans/approve-plan.test.ts": {
    "no execution unless the plan hash matches the approved hash": "APH-025 APH-026 APH-027",
    "no execution unless the approval token is valid": "APT-001 APT-014",
    "approval tokens are bound to one plan, and to one session": "APH-020 APT-011",
    "any change to a plan invalidates the approval": "APT-003",
    "a plan survives at every state, and so does an approval": "APT-006",
    "%s between approval and execution is refused, across a restart too": "CFG-025",
    "guesses void an approval for every process": "APT-016",
  },
  "packages/sessions/test/plans/approval/approval-tokens.test.ts": {
    "hold 256 bits, and are kept as SHA-256 only": "APT-015",
    "after ten minutes": "APT-008",
    "after ten minutes with the clock set back an hour": "APT-009",
    "with the clock set forward": "APT-010",
  },
  "packages/sessions/test/plans/plan-service.test.ts": {
    "risk_level declared low": "APT-026",
    "deny non-registry tool": "APT-030",
    "the model's words are never an approval": "APT-018",
  },
  "packages/sessions/test/plans/execute-plan.test.ts": {
    "when a step fails, those that depend on it stop; the run is partial": "APT-024",
  },
  "packages/sessions/test/plans/interrupted-plan.test.ts": {
    "between the spending of the token and the execution": "APT-007",
  },
  "packages/governance/test/gate/confirm/answer-pattern.test.ts": {
    "never covers a command in a wrapper": "APT-031",
    "never covers a command with %s": "APT-033",
  },
  "packages/governance/test/gate/confirm/remembered-answers.test.ts": {
    "holds for the exact action only": "APT-034 APT-035",
  },
  "packages/client/test/questions/read-answer.test.ts": { "only y, yes, t and s can be a yes": "APT-040" },
  "packages/governance/test/limits/emergency-verdict.test.ts": {
    "enforce read-only mode globally": "EMG-003 EMG-004 EMG-005",
    "disable high-impact tool category at runtime": "EMG-009",
    "block production deploy tool specifically": "EMG-010",
  },
  "packages/sessions/test/rules/emergency-store.test.ts": {
    "two clients at once: both are recorded, and the stricter one counts": "EMG-011",
    "its file was removed": "EMG-012",
  },
  "test/e2e/governance/rules/emergency.test.ts": {
    "%s ends the running command, and the turn goes on in it": "EMG-002",
    "nobody without the token, and nothing that is no control": "EMG-007",
  },
  "packages/governance/test/gate/standing-check.test.ts": {
    "a control switched after the decision stops the call before its effect": "EMG-001",
  },
  "packages/governance/test/gate/gate.test.ts": {
    "hooks fail closed": "RUL-025 PRC-005",
    "does not let one hook's ask silence another's deny": "RUL-028",
    "unknown argument": "MOD-005",
  },
  "packages/governance/test/ledger/verify-ledger.test.ts": {
    "sees every flipped bit": "LED-001",
    "a changed record with a fitting hash": "LED-002",
    "a removed middle record": "LED-004",
    "the ledger of another workspace": "LED-009",
    "a repeated record": "LED-011",
    "a record of another key in the chain": "LED-012",
    "garbage in the middle": "LED-018",
    "a duplicate key": "LED-022",
    "a huge line": "LED-042",
    "an empty ledger": "LED-044",
    "a last line without its line break": "LED-019",
    "marks of a merge": "LED-052",
  },
  "packages/store/test/audit/ledger-verify.test.ts": {
    "a cut tail and an older head": "LED-007",
    "a removed file": "LED-008",
  },
  "packages/store/test/audit/ledger-key-rotation.test.ts": {
    "old records verify with the old key, new ones with the new": "LED-014",
  },
  "packages/store/test/audit/ledger-export.test.ts": {
    "is checked offline by a third party, by key and by itself": "LED-040",
    "is redacted by the rules of today": "LED-038",
    "carries sessions, head and redaction markers, and no secret": "RED-019",
  },
  "packages/store/test/ledger/ledger-mirror.test.ts": {
    "moved away by log rotation": "LED-034",
    "cut in the middle of a line": "LED-049",
    "something else": "LED-033",
    "is shared by several stores": "LED-026",
  },
  "packages/store/test/ledger/mirror-paths.test.ts": {
    "a link in the file's place": "LED-032",
    "says once that a workspace cannot be written, and goes on": "LED-031",
  },
  "packages/store/test/purge/purge-memory.test.ts": {
    "of a workspace leaves no byte, a chain that holds, and a tombstone": "LED-039",
  },
  "test/crash/store/store-crash.test.ts": { "survives being killed at any moment": "LED-027 PRC-002" },
  "test/crash/server/server-rounds.test.ts": { "a server killed in the middle of turns": "LED-045 PRC-006" },
  "packages/store/test/config/state-directory.test.ts": {
    "refuses a newer format and leaves the file as it was": "PRC-019",
  },
  "packages/server/test/http/request-guard.test.ts": {
    "health without a token": "HTP-001",
    "every 401 looks the same": "HTP-002",
    '["Basic", 401': "HTP-004",
    "two tokens": "HTP-006",
    "a foreign origin with a good token": "HTP-007",
    "a null origin": "HTP-008",
    "localhost as a prefix": "HTP-011",
    "loopback as a prefix": "HTP-012",
    "127 as a prefix": "HTP-013",
    "another host, forwarded as this one": "HTP-020",
    "text/plain, as a form can send it": "HTP-021 APT-046",
    "gRPC-Web text": "HTP-025",
    "gRPC over HTTP/1.1": "HTP-026",
    "a foreign preflight": "HTP-027",
    "private network access": "HTP-028",
    "a method override, ignored": "HTP-030",
    "a parent step": "HTP-035",
    "an unknown method of the service": "HTP-036",
    "debug pages": "HTP-048",
  },
  "packages/server/test/http/token.test.ts": { "in a directory of mode %o": "HTP-045" },
  "packages/server/test/http/listen/http-server.test.ts": {
    "user info in Host": "HTP-017",
    "HTTP/1.0 without Host": "HTP-019",
    "a folded header": "HTP-032",
    "64 KB of headers": "HTP-033",
    "headers that trickle in: 408": "HTP-037",
    "a body that trickles in: 408": "HTP-038",
  },
  "test/e2e/process/discovery.test.ts": {
    "a directory of mode %o, neither to read nor to write": "HTP-044",
    "a server that is gone": "PRC-014",
  },
  "test/e2e/rpc/requests/request-bodies.test.ts": { "too long": "RPC-002", "cut off": "RPC-003", garbage: "RPC-004" },
  "test/e2e/rpc/requests/requests.test.ts": {
    "to an id of 10 kB": "RPC-019",
    "another session cannot answer": "SES-004",
    "for another path": "SES-005",
  },
  "test/e2e/rpc/sessions/start-session.test.ts": {
    "iterations without end": "RPC-018",
    "a workspace that is a link is the directory behind it": "PTH-078",
    "a backend without a meaning": "RPC-016",
    "the whole disk": "SES-028 PTH-080",
  },
  "test/e2e/rpc/sessions/two-servers.test.ts": { "two servers on one store: one turn at a time": "PRC-013" },
  "packages/sessions/test/bridge/pending-requests.test.ts": {
    "does not run for a client that cannot answer; waiting for one that can ends": "SES-015 PRC-015",
  },
  "test/e2e/rpc/turns/confirmation.test.ts": {
    "unanswered in time is a denial, and not the user's": "SES-003 RUL-006",
    "an answer that has no meaning": "RUL-007",
    "in a session where nobody can be asked it is denied at once": "RUL-005",
    "a client that vanishes cancels nothing, and may answer when it is back": "SES-021",
    "the first valid answer wins, also at once": "SES-002 SES-022 APT-045",
  },
  "test/e2e/rpc/turns/streams.test.ts": {
    "a deadline ends the call, not the turn": "RPC-013",
    "a stream that breaks cancels nothing": "SES-014",
    "a replay from any place leaves no gap": "SES-016 PRC-016",
    "a flood of a hundred thousand deltas arrives whole, in few events": "SES-018",
  },
  "test/e2e/rpc/turns/turns.test.ts": {
    "the id is still known after a restart": "PRC-018",
    "a tool nobody has": "APT-020",
    "a second turn at once is refused and leaves the first alone": "SES-011",
  },
  "packages/sessions/test/rules/rules-service.test.ts": {
    "CFG-005 duplicate keys": "CFG-005",
    "CFG-006 __proto__": "CFG-006",
    "CFG-008 several documents": "CFG-008",
    "CFG-011 a pattern for everything is accepted and reported": "CFG-011",
    "CFG-017 a link that leads out": "CFG-017",
    "CFG-018 the user's file that others may write": "CFG-018",
    "CFG-019 not UTF-8": "CFG-019",
    "RUL-008 the good rules of a bad file hold": "RUL-008",
    "RUL-009 only comments": "RUL-009",
    "RUL-010 an empty project policy takes nothing away": "RUL-010",
    "new rules hold for the next decision, and the old set stays as it was": "CFG-024",
  },
  "packages/governance/test/rules/rules-policy.test.ts": {
    '[" ; rm -rf src", "deny"]': "RUL-013",
    "read a read-only file": "RUL-014",
    "read src/environment.ts": "RUL-016",
    "git commit -m 'fix: do not rm -rf root'": "RUL-021",
    "grep -rn 'git reset --hard' docs": "RUL-022",
    "search **/.env": "PTH-052",
    "search .e*": "PTH-053",
    "search {a,.env}": "PTH-054",
  },
  "packages/governance/test/rules/parse-rules.test.ts": {
    "CFG-009 misspelt key": "CFG-009",
    "CFG-021 %USERPROFILE%": "CFG-021",
  },
  "packages/governance/test/rules/compile/compile-path.test.ts": { "config\\\\prod": "CFG-022" },
  "packages/governance/test/rules/compile/compile-pattern.test.ts": {
    "nested quantifiers take linear time": "CFG-012",
    "é rm é": "CFG-014",
  },
  "packages/machine/test/redaction/redactor.test.ts": {
    "masks $name however it is split": "RED-004",
    "masks the longer of two secrets that begin alike": "RED-011",
    "takes linear time on long runs": "RED-012",
  },
  "packages/machine/test/process/run-command.test.ts": {
    "processes that ignore SIGTERM are killed, grandchildren too": "MOD-016",
    "too much of it ends the command": "MOD-015",
    "it inherits no descriptor": "PRC-025",
    "200 commands one after the other leave neither zombies nor descriptors": "PRC-026",
  },
  "packages/shell/test/open-sandbox.test.ts": { "bubblewrap is only taken from where root put it": "PRC-029" },
  "packages/shell/test/isolation.test.ts": { "in a directory that it does not see": "PRC-030" },
  "packages/machine/test/workspace/files/file-failure.test.ts": {
    EACCES: "PRC-008",
    EROFS: "PRC-010",
    EBUSY: "PRC-011",
  },
  "packages/machine/test/workspace/files/held-directory.test.ts": {
    "a parent that is swapped for a link all the time never leads a write or a read outside": "TOC-001",
  },
  "packages/machine/test/change-set/recover-file-sets.test.ts": {
    "leaves whole files, and recovery makes all or nothing of them": "LCK-017 LCK-019",
  },
  "test/conformance/workspace/apply-conformance.ts": {
    "content changed": "TOC-006",
    "same size and time, other content": "TOC-007",
    "CRLF came in": "LCK-006",
    '["deleted", "update"': "TOC-008",
    "a create never replaces what somebody else made": "TOC-009",
    "a base of another file, and two changes of one file, are refused": "LCK-002",
    "its own write is the base of the next": "LCK-009",
    "a hard link elsewhere keeps its content": "TOC-004",
    "of a hundred writers with the same base exactly one wins, every time": "LCK-016",
  },
  "test/conformance/workspace/file-conformance.ts": {
    "refuses what is too large, missing or no regular file, and never blocks": "PTH-033 PTH-034 PTH-015",
  },
  "test/conformance/workspace/root-conformance.ts": { "another directory or a link at its path is noticed": "PTH-079" },
  "test/conformance/workspace/resolve-conformance.ts": {
    "%s lies outside: %s": "PTH-060",
    absolute: "PTH-002",
    "prefix collision": "PTH-004",
    "prefix after normalisation": "PTH-005",
    "far up": "PTH-006",
    backslashes: "PTH-008",
    '["file URI", "file:///etc/passwd"]': "PTH-010",
    "file URI with host": "PTH-011",
    "other scheme": "PTH-012",
    '["empty", ""]': "PTH-014",
    "5000 characters": "PTH-016",
    newline: "PTH-018",
    "missing leaf below a link outside": "PTH-021",
    "refuses a loop of links, and a path below a file": "PTH-024 PTH-075",
    '["/proc", "/proc/self/root/etc/passwd"]': "PTH-028",
    "/dev/stdin": "PTH-031",
    "zero width space": "PTH-040",
    "trailing space": "PTH-043",
    "alternate stream": "PTH-045",
    '["CON", "CON"]': "PTH-047",
    drive: "PTH-048",
    variable: "PTH-051",
  },
  "packages/client/test/connection/prove-server.test.ts": {
    "passes the challenge on to a real one": "HTP-042",
    "another page": "HTP-043",
  },
  "packages/sessions/test/mcp/mcp-servers.test.ts": {
    "asks again when a definition changed behind an accepted name, and does not call what was not looked at": "MOD-032",
    "takes the place of no built-in tool, and leaves out names that nobody could call": "MOD-033",
  },
  "packages/sessions/test/tools/commands/command-tools.test.ts": {
    "a directory that was swapped after the decision is not entered": "PTH-082 TOC-016",
    "nothing seen": "CUI-012",
  },
  "packages/repl/test/chat/markdown.test.ts": { "hostile markdown": "CUI-001" },
  "packages/repl/test/hosts/webview-host.test.ts": { "hears nothing of another origin": "CUI-002" },
  "packages/vscode/test/terminal/terminal-commands.test.ts": {
    "a carriage return": "CUI-005",
    "the shell does not report itself": "CUI-013",
    "every command has a terminal of its own; the one before is closed": "CUI-009",
    "the shell is elsewhere": "CUI-010",
  },
  "packages/vscode/test/server/launch/launch.test.ts": {
    "untrusted, always": "CUI-014",
    "a relative program": "CUI-015",
  },
  "packages/vscode/test/settings/migrate-settings.test.ts": {
    "never shows the token, and says when it could not be removed": "CUI-016",
  },
  "packages/vscode/test/server/secret-key.test.ts": { "is the same for the same server": "CUI-017" },
  "packages/vscode/test/editor/workspace-paths.test.ts": { "no name leads out": "CUI-004" },
  "packages/vscode/test/session/interceptors/watching-interceptor.test.ts": {
    "a window that watches may look and stop, and nothing else": "CUI-022",
  },
  "packages/vscode/test/status/attention.test.ts": {
    "names the oldest of the questions that come together, and how many more there are": "CUI-021",
  },
  "packages/governance/test/policies/files/freshness.test.ts": {
    "an update of what was never read": "LCK-001",
    "an update of what changed": "LCK-008 LCK-010 TOC-012",
    "an update of a buffer that is not what is on disk": "LCK-005 TOC-011",
    "a delete of what changed": "LCK-012 LCK-013",
  },
  "packages/governance/test/policies/files/redaction-marker.test.ts": {
    "keeps masked text from going back into a file": "RED-015",
  },
  "packages/governance/test/policies/files/secrets.test.ts": {
    "keeps %s from being read, searched, written or proposed, and lets it be listed": "PTH-058",
  },
  "packages/governance/test/intents/intents-policy.test.ts": {
    "scope expansion asks a person, whatever the scope": "MOD-034",
  },
  "packages/governance/test/intents/parse-intents.test.ts": {
    "makes two intents with one id an error for both": "CFG-033",
    "only a status that means active can be selected": "CFG-034",
    "refuses the id %j": "CFG-035",
  },
  "packages/sessions/test/intents/intents-service.test.ts": {
    "required: nothing can be selected before a person accepted the very file, however it came": "CFG-032",
  },
  "packages/agent/test/scenarios/parse-scenarios.test.ts": {
    "gains no tool that writes or runs": "CFG-037",
  },
  "packages/governance/test/ledger/ledger-record.test.ts": {
    "keeps what matters of what cannot be kept whole": "LED-023",
    "is one valid line when %s": "LED-025",
  },
  "test/e2e/governance/ledger/records.test.ts": {
    "a step's record has tool, redacted input, start and stop": "RED-009",
  },
  "test/e2e/governance/rules/carried-instructions.test.ts": {
    "orders in texts of strangers run nothing that the gate did not judge, even with a model that obeys each":
      "MOD-027 MOD-028",
  },
  "packages/protocol/test/hidden-characters.test.ts": {
    "no hidden character is left": "MOD-029",
  },
  "packages/cli/test/review/review-at-terminal.test.ts": {
    "spells what would steer the terminal": "APT-044",
  },
  "packages/repl/test/command/command-card.test.ts": {
    "a command stands whole on lines of its own, with what hides in it": "APT-042",
  },
  "packages/repl/test/confirmation/confirmation-card.test.ts": {
    "what the model claims stands apart, and all of it is text": "APT-043",
  },
  "packages/repl/test/review/review-panel.test.ts": {
    "what is not what its digest says is not shown, and not kept": "CUI-018",
  },
  "test/e2e/sandbox/network/who-may-not.test.ts": {
    "no command reaches the server of Gennai, and nobody is asked about it": "APT-021",
  },
  "test/e2e/sandbox/sandboxed-commands.test.ts": {
    "where nothing is staged it is said at the start, and what does more than read asks": "PRC-028",
  },
  "test/e2e/process/at-terminal.test.ts": {
    "a reader that has gone, a closed output and a deleted directory are no crash": "PRC-004",
  },
  "test/e2e/process/few-descriptors.test.ts": {
    "streams are refused before the last descriptors, and turns go on": "PRC-009",
  },
  "test/e2e/page/page-door.test.ts": {
    "come to everybody who reaches the port, with strict headers and no secrets": "MOD-041",
  },
  "test/e2e/models/providers.test.ts": {
    "half of a call's arguments are refused, told to the model, and run nothing": "MOD-044",
  },
  "test/e2e/users/overload.test.ts": {
    "sessions in use are bounded for each user; idle ones make room": "SES-019",
  },
  "test/wire/conversation/answers.test.ts": {
    "an empty answer is asked about, and then no success": "MOD-045",
  },
  "test/wire/conversation/asked-again.test.ts": {
    "a call that is written as text is asked for once more, and then fails the turn": "MOD-009",
  },
  "packages/machine/test/process/plain-text.test.ts": {
    "it is the same in pieces, and never has a control in it": "MOD-022",
  },
  "packages/shell/test/command-limits.test.ts": {
    "memory, by many": "MOD-019",
  },
  "packages/sessions/test/tools/reading/read-tool.test.ts": { "LS, Glob, Grep": "PTH-057" },
  "packages/sessions/test/tools/writing/propose-changes-tool.test.ts": {
    "writes the list, keeps ids and times, and tells the log": "SES-023",
  },
};

/** Where each such case is held, as `FILE: TITLE`. */
export const heldElsewhere: ReadonlyMap<string, { readonly file: string; readonly title: string }> = new Map(
  Object.entries(held).flatMap(([file, titles]) =>
    Object.entries(titles).flatMap(([title, ids]) => ids.split(" ").map((id) => [id, { file, title }] as const)),
  ),
);
