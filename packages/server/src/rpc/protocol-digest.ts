import { createHash } from "node:crypto";
import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { AgentService } from "@gennai/protocol/gen/gennai/agent/v1/agent_pb";
import { GovernanceService } from "@gennai/protocol/gen/gennai/agent/v1/governance_pb";
import { PlanService } from "@gennai/protocol/gen/gennai/agent/v1/plan_pb";

let digest: string | undefined;

/** SHA-256 of the protocol's descriptors, by file name: the same wherever the same protocol is spoken. */
export function protocolDigest(): string {
  digest ??= computeDigest();
  return digest;
}

function computeDigest(): string {
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (file.proto.package !== AgentService.file.proto.package || files.has(file.name)) return;
    files.set(file.name, file);
    for (const each of file.dependencies) add(each);
  };
  for (const { file } of [AgentService, GovernanceService, PlanService]) add(file);
  const hash = createHash("sha256");
  for (const name of [...files.keys()].sort()) {
    const bytes = toBinary(FileDescriptorProtoSchema, files.get(name)?.proto ?? AgentService.file.proto);
    hash.update(`${name} ${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex");
}
