import { createHash, type Hash, hash as hashAtOnce } from "node:crypto";

/** SHA-256 with the interface of `@noble/hashes`, computed by Node. The build replaces that package's function by it. */
export const sha256: ((data: Uint8Array) => Uint8Array) & { create(): Running } = Object.assign(
  (data: Uint8Array): Uint8Array => hashAtOnce("sha256", data, "buffer"),
  { create: () => running(createHash("sha256")) },
);

interface Running {
  update(data: Uint8Array): Running;
  digest(): Uint8Array;
  clone(): Running;
}

function running(hash: Hash): Running {
  const self: Running = {
    update(data) {
      hash.update(data);
      return self;
    },
    digest: () => hash.digest(),
    clone: () => running(hash.copy()),
  };
  return self;
}
