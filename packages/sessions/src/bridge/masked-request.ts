import type { ClientRequest } from "@gennai/agent/events/client-request";
import type { Redactor } from "@gennai/governance/redaction";
import { editorRequests } from "@gennai/protocol/model/session/editor-requests";

/**
 * The request as logged. Clients get the exact one from memory; secrets never reach the disk. The digest remains that of the
 * exact action.
 */
export async function maskedRequest(request: ClientRequest, redactor: Redactor): Promise<ClientRequest> {
  return masked({ ...request, ...editorRows[request.kind]?.inLog }, redactor);
}

const editorRows: Readonly<Partial<Record<ClientRequest["kind"], { readonly inLog?: object }>>> = editorRequests;

/**
 * Fields that are not masked: ids, digests, and words from our own lists. All others are masked, so that a new field is safe by
 * default.
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
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Same structure, other texts: the compiler cannot see it.
  const same = (result: unknown): Value => result as Value;
  if (typeof value === "string") return keptAsTheyAre.has(name) ? value : same(await redactor.redact(value));
  if (Array.isArray(value)) return same(await Promise.all(value.map((item) => masked(item, redactor, name))));
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(async ([key, field]) => [key, await masked(field, redactor, key)] as const);
  return same(Object.fromEntries(await Promise.all(fields)));
}
