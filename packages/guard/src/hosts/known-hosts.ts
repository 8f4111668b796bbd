import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { copilot } from "./copilot.ts";
import { gemini } from "./gemini.ts";
import type { GuardedHost } from "./guarded-host.ts";
import { opencode } from "./opencode.ts";
import { pi } from "./pi.ts";

/** Supported agents, by id. */
export const knownHosts: ReadonlyMap<string, GuardedHost> = new Map(
  [claudeCode, codex, copilot, gemini, opencode, pi].map((host) => [host.id, host]),
);
