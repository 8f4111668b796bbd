import { approvalHashChecks, approvalTokenChecks } from "./checks/approval.ts";
import { clientChecks } from "./checks/client.ts";
import { commandGroups } from "./checks/commands/commands.ts";
import { processChecks } from "./checks/commands/process.ts";
import { ledgerChecks } from "./checks/ledger.ts";
import { modelChecks } from "./checks/model/model.ts";
import { pathChecks } from "./checks/path/path.ts";
import { pathToctouChecks } from "./checks/path/path-toctou.ts";
import { protocolHttpChecks } from "./checks/protocol/protocol-http.ts";
import { protocolRpcChecks } from "./checks/protocol/protocol-rpc.ts";
import { protocolSessionChecks } from "./checks/protocol/protocol-session.ts";
import { redactionChecks } from "./checks/redaction.ts";
import { configChecks } from "./checks/rules/config.ts";
import { rulesSemanticsChecks } from "./checks/rules/rules-semantics.ts";
import { selfProtectionChecks } from "./checks/rules/self-protection.ts";
import type { Checks } from "./corpus-case.ts";

/** The groups that are checked. A case of theirs that has no check says which test holds it. */
export const corpusChecks: ReadonlyMap<string, Checks> = new Map([
  ["protocol.http", protocolHttpChecks],
  ["protocol.rpc", protocolRpcChecks],
  ["protocol.session", protocolSessionChecks],
  ["path", pathChecks],
  ["path.toctou", pathToctouChecks],
  ["process", processChecks],
  ...commandGroups,
  ["selfprotect", selfProtectionChecks],
  ["rules.semantics", rulesSemanticsChecks],
  ["approval.hash", approvalHashChecks],
  ["approval.token", approvalTokenChecks],
  ["config", configChecks],
  ["redaction", redactionChecks],
  ["ledger", ledgerChecks],
  ["model", modelChecks],
  ["client.ui", clientChecks],
]);
