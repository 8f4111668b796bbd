import type { BundleSource } from "@gennai/governance/ledger/verify-bundle";

/** The bytes of a file piece by piece, from the start each time. @param onRead told how many were read of this pass */
export function fileSource(file: Blob, onRead: (bytes: number) => void = () => undefined): BundleSource {
  return async function* read() {
    const reader = file.stream().getReader();
    let bytes = 0;
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return;
        bytes += value.length;
        onRead(bytes);
        yield value;
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  };
}
