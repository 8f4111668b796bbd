import type { DescMethod } from "@bufbuild/protobuf";
import { AgentService } from "./gen/gennai/agent/v1/agent_pb.ts";
import { GovernanceService } from "./gen/gennai/agent/v1/governance_pb.ts";
import { PlanService } from "./gen/gennai/agent/v1/plan_pb.ts";

/** Everything that a server serves. */
export const rpcServices = [AgentService, GovernanceService, PlanService] as const;

/** Path of every RPC, as in a request line. */
export const rpcPaths: readonly string[] = rpcServices.flatMap(({ methods }) => methods.map(rpcPath));

export function rpcPath({ parent, name }: DescMethod): string {
  return `/${parent.typeName}/${name}`;
}
