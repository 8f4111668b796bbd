import type { DescMethod } from "@bufbuild/protobuf";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

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
export function requestLimit(method: DescMethod): number {
  if (withContent.has(method)) return 16 * mebibyte;
  return method.parent.typeName === PlanService.typeName ? 4 * mebibyte : mebibyte;
}
