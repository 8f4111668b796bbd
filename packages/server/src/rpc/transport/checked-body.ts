import { type DescMethod, fromBinary } from "@bufbuild/protobuf";
import { ServiceError } from "@gennai/machine/service-error";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

const headBytes = 5;
const trailerFlag = 0x80;

type Body = AsyncIterable<Uint8Array>;

/**
 * Passes a request's body on as it arrives. Throws early, with the reason, if it is too large or no valid message: the RPC
 * layer alone would report an internal error, after which clients retry.
 * @param contentType from the request; JSON is left to the RPC layer, which reports its errors well
 */
export function checkedBody(body: Body, method: DescMethod, contentType: string): Body {
  if (/^application\/(?:grpc-web|connect)\+/i.test(contentType) || /^application\/grpc-web\b/i.test(contentType)) {
    return checkedFrames(body, method, !/json/i.test(contentType));
  }
  return checkedWhole(body, method, !/json/i.test(contentType));
}

/** For a body over the limit of its method. */
export function isTooLarge(error: unknown): boolean {
  return error instanceof ServiceError && error.reason === "request_too_large";
}

/** The body is the message. */
async function* checkedWhole(body: Body, method: DescMethod, isBinary: boolean): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    checkLength(bytes, method);
    if (isBinary) parts.push(chunk);
    yield chunk;
  }
  if (isBinary) checkMessage(Buffer.concat(parts), method);
}

/** The body is messages, each behind its length. */
async function* checkedFrames(body: Body, method: DescMethod, isBinary: boolean): AsyncGenerator<Uint8Array> {
  let head = Buffer.alloc(0);
  let parts: Uint8Array[] = [];
  let missing = 0;
  for await (const chunk of body) {
    for (let at = 0; at < chunk.length; ) {
      if (head.length < headBytes) {
        const taken = chunk.subarray(at, at + headBytes - head.length);
        head = Buffer.concat([head, taken]);
        at += taken.length;
        if (head.length < headBytes) break;
        if ((head.readUInt8(0) & trailerFlag) !== 0) throw invalid("A request has no trailers.");
        missing = head.readUInt32BE(1);
        checkLength(missing, method);
      }
      const taken = chunk.subarray(at, at + missing);
      at += taken.length;
      missing -= taken.length;
      const isChecked = isBinary && head.readUInt8(0) === 0;
      if (isChecked) parts.push(taken);
      if (missing > 0) break;
      if (isChecked) checkMessage(Buffer.concat(parts), method);
      head = Buffer.alloc(0);
      parts = [];
    }
    yield chunk;
  }
}

function checkLength(bytes: number, method: DescMethod): void {
  const limit = requestLimit(method);
  if (bytes <= limit) return;
  throw new ServiceError("resource_exhausted", `A request of ${method.name} has at most ${limit} bytes.`, {
    reason: "request_too_large",
    hint: "Send less at once.",
  });
}

function checkMessage(bytes: Uint8Array, method: DescMethod): void {
  try {
    fromBinary(method.input, bytes);
  } catch {
    throw invalid(`The request is no ${method.input.typeName}.`);
  }
}

function invalid(text: string): ServiceError {
  return new ServiceError("invalid_argument", text);
}

const mebibyte = 1024 * 1024;

const { invoke, startTurn, queueMessage, submitClientEvent, applyProposal } = AgentService.method;
/** These carry text, images and files of a user. */
const withContent: ReadonlySet<DescMethod> = new Set([
  invoke,
  startTurn,
  queueMessage,
  submitClientEvent,
  applyProposal,
  GovernanceService.method.guardCall,
]);

/** Bytes that a request of a method may have. */
function requestLimit(method: DescMethod): number {
  if (withContent.has(method)) return 16 * mebibyte;
  return method.parent.typeName === PlanService.typeName ? 4 * mebibyte : mebibyte;
}
