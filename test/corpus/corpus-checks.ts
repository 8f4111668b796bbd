import { approvalHashChecks } from "./checks/approval-hash.ts";
import { approvalQuestionChecks } from "./checks/approval-question.ts";
import { approvalTokenChecks } from "./checks/approval-token.ts";
import { clientTerminalChecks } from "./checks/client-terminal.ts";
import { clientUiChecks } from "./checks/client-ui.ts";
import { commandGroups } from "./checks/commands.ts";
import { configChecks } from "./checks/config.ts";
import { emergencyChecks } from "./checks/emergency.ts";
import { ledgerChecks } from "./checks/ledger.ts";
import { lockingChecks } from "./checks/locking.ts";
import { modelChecks } from "./checks/model.ts";
import { pathChecks } from "./checks/path.ts";
import { pathToctouChecks } from "./checks/path-toctou.ts";
import { processChecks } from "./checks/process.ts";
import { protocolHttpChecks } from "./checks/protocol-http.ts";
import { protocolRpcChecks } from "./checks/protocol-rpc.ts";
import { protocolSessionChecks } from "./checks/protocol-session.ts";
import { redactionChecks } from "./checks/redaction.ts";
import { rulesSemanticsChecks } from "./checks/rules-semantics.ts";
import { selfProtectionChecks } from "./checks/self-protection.ts";
import type { Checks } from "./corpus-case.ts";

/** The groups that are checked. Every case of such a group has its check. */
export const corpusChecks: ReadonlyMap<string, Checks> = new Map([
  ["protocol.http", protocolHttpChecks],
  ["protocol.rpc", protocolRpcChecks],
  ["protocol.session", protocolSessionChecks],
  ["path", pathChecks],
  ["path.toctou", pathToctouChecks],
  ["locking", lockingChecks],
  ["process", processChecks],
  ...commandGroups,
  ["selfprotect", selfProtectionChecks],
  ["rules.semantics", rulesSemanticsChecks],
  ["approval.hash", approvalHashChecks],
  ["approval.token", { ...approvalTokenChecks, ...approvalQuestionChecks }],
  ["config", configChecks],
  ["emergency", emergencyChecks],
  ["redaction", redactionChecks],
  ["ledger", ledgerChecks],
  ["model", modelChecks],
  ["client.ui", { ...clientUiChecks, ...clientTerminalChecks }],
]);
