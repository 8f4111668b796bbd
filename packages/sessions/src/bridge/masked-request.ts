import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { Redactor } from "@gennai/governance/redaction";
import { editorRequests } from "@gennai/protocol/model/editor/editor-requests";

/**
 * A request as the session's log keeps it. Who answers gets the exact one from memory; what is on disk for good never had
 * its secrets. The digest of the action stays that of the exact action.
 */
export async function maskedRequest(request: ClientRequest, redactor: Redactor): Promise<ClientRequest> {
  return masked({ ...request, ...editorRows[request.kind]?.inLog }, redactor);
}

const editorRows: Readonly<Partial<Record<ClientRequest["kind"], { readonly inLog?: object }>>> = editorRequests;

/**
 * Fields that keep their text: ids, digests, and words out of a list of ours. All others are masked, so that a field that
 * somebody adds is safe before anybody thinks of it.
 */
const keptAsTheyAre: ReadonlySet<string> = new Set([
  "kind",
  "type",
  "operation",
  "risk",
  "rule",
  "offeredScopes",
  "mediaType",
  "toolName",
  "id",
  "requestId",
  "callId",
  "turnId",
  "changeSetId",
  "clientId",
  "sha256",
  "actionSha256",
  "policySha256",
  "baseSha256",
  "contentSha256",
  "knownDigest",
]);

async function masked<Value>(value: Value, redactor: Redactor, name = ""): Promise<Value> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- What it was given, with other texts; the compiler cannot follow that.
  const same = (result: unknown): Value => result as Value;
  if (typeof value === "string") return keptAsTheyAre.has(name) ? value : same(await redactor.redact(value));
  if (Array.isArray(value)) return same(await Promise.all(value.map((item) => masked(item, redactor, name))));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(async ([key, field]) => [key, await masked(field, redactor, key)] as const);
  return same(Object.fromEntries(await Promise.all(fields)));
}
