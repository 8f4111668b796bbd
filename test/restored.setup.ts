import { afterAll, vi } from "vitest";

/** The next file runs in the same process, and finds it as this one did. */
afterAll(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});
