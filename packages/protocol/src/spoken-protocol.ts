import { type DescFile, toBinary } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { runningSha256 } from "./digest.ts";
import { rpcServices } from "./rpc-services.ts";

/** Counts protocols that do not understand each other. */
export const protocolVersion = 1;

let digest: string | undefined;

/** SHA-256 of the protocol's descriptors, by file name: the same wherever the same protocol is spoken. */
export function protocolDigest(): string {
  digest ??= computeDigest();
  return digest;
}

function computeDigest(): string {
  const ownPackage = rpcServices[0].file.proto.package;
  const files = new Map<string, DescFile>();
  const add = (file: DescFile): void => {
    if (file.proto.package !== ownPackage || files.has(file.name)) return;
    files.set(file.name, file);
    for (const each of file.dependencies) add(each);
  };
  for (const { file } of rpcServices) add(file);
  const hash = runningSha256();
  const encoder = new TextEncoder();
  for (const [name, { proto }] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const bytes = toBinary(FileDescriptorProtoSchema, proto);
    hash.update(encoder.encode(`${name} ${bytes.length}\n`));
    hash.update(bytes);
  }
  return hash.hex();
}
