import { vi } from "vitest";

/** Milliseconds, as `expect.poll` waits in vitest.config.ts. Vitest's own second is little for a machine that does other things besides. */
const patience = 150_000;

const { waitFor } = vi;
// Files that share a process share `vi`, and each comes by here.
if (waitFor.name !== "waitPatiently") {
  vi.waitFor = function waitPatiently(callback, options) {
    return waitFor(callback, typeof options === "number" ? options : { timeout: patience, ...options });
  };
}
