import { join } from "node:path";
import { artefactNames } from "../make-release.ts";
import { type TestGate, testGate } from "./test-gate.ts";

/** Of a gate of tests. How long they take says how busy the machine is; a gate that hangs ends all the same. */
const timeoutMs = 90 * 60_000;

/** What must never be, each with the words by which tests prove it. */
const neverDo = testGate({
  name: "never-do",
  title: "What the agent must never do, it does not do.",
  timeoutMs,
  tests: [
    "test/corpus/corpus.test.ts",
    "test/e2e/governance",
    "test/e2e/rpc/turns/confirmation.test.ts",
    "test/requirements",
    "packages/governance/test/limits",
    "packages/governance/test/gate",
    "packages/governance/test/policies/commands.test.ts",
    "packages/governance/test/policies/risk.test.ts",
    "packages/sessions/test/rules",
    "packages/sessions/test/tools/tool-matrix.test.ts",
  ],
  proves: [
    // No silent execution.
    "seed 003 §2.1",
    // No high-impact action without explicit confirmation.
    "seed 003 §2.2:",
    "seed 003 §5 missing",
    "seed 003 §5 ambiguous",
    "seed 003 §5 token",
    // No execution outside the tool registry.
    "seed 003 §2.3",
    // No success claim without verification output.
    "seed 003 §2.4:",
    // Tone never changes permissions.
    "seed 003 §2.5:",
    "seed 003 §4:",
    // No post-stop continuation.
    "seed 003 §12 post-stop:",
    "seed 003 §13 read-only:",
    "seed 003 §13 high-impact:",
    "seed 003 §13 deploy:",
    "seed 003 §13 auditable:",
    // Each of these is refused by its check, and would happen without it.
    "each check is what refuses",
  ],
  // Every attack, where `npm test` tries a sample.
  environment: () => ({ GENNAI_SAMPLES: "whole" }),
});

const planValidation = testGate({
  name: "plan-validation",
  title: "A plan that is incomplete, changed or not approved does not run.",
  timeoutMs,
  tests: [
    "packages/protocol/test/strict-json.test.ts",
    "packages/protocol/test/validate-rina-output.test.ts",
    "packages/governance/test/plan-record.test.ts",
    "packages/governance/test/step-contract.test.ts",
    "packages/sessions/test/plans",
    "test/e2e/plans",
  ],
  proves: [
    "reject missing risk_level",
    "reject missing verification_plan",
    "reject missing requires_confirmation",
    "seed 000 state:",
    "seed 000 hash:",
    "seed 000 token:",
    "seed 000 binding:",
    "seed 000 immutable:",
    "seed 000 canonical:",
    "seed 000 envelope:",
    "seed 000 lifecycle:",
    "seed 000 authority:",
  ],
});

const toolBoundary = testGate({
  name: "tool-boundary",
  title: "No tool reaches beyond the registry, the license and the workspace.",
  timeoutMs,
  tests: [
    "packages/governance/test/limits",
    "packages/governance/test/policies",
    "packages/governance/test/gate/gate.test.ts",
    "packages/sessions/test/rules",
    "packages/stage/test/sandbox",
    "packages/shell/test/run",
    "packages/shell/test/open-sandbox.test.ts",
    "packages/sessions/test/tools",
    "packages/machine/test/workspace",
    "test/conformance/workspace",
    "test/e2e/sandbox",
  ],
  proves: ["seed 003 §12 registry:", "seed 003 §12 scope:", "seed 003 §10 before:", "seed 003 §10 least:"],
});

const upgrade = testGate({
  name: "upgrade",
  title: "State of earlier versions opens; state of later ones is refused and stays as it is.",
  timeoutMs,
  tests: ["test/release/upgrade.test.ts", "test/release/newer-state.test.ts"],
  proves: ["opens what 0.1.0 left", "is refused and stays as it is"],
});

const smokeVscode = testGate({
  name: "smoke-vscode",
  title: "The packed extension installs in the real VS Code and answers a prompt, also by the server that it brings.",
  timeoutMs,
  tests: ["test/e2e/vscode/install/package.test.ts"],
  proves: ["the packaged extension installs where none was", "where nothing but the package was installed"],
  config: "test/e2e/vitest.config.ts",
  environment: ({ directory, version }) => ({
    GENNAI_TEST_VSIX: join(directory, artefactNames(version).extension),
  }),
});

export const testGates: readonly TestGate[] = [neverDo, planValidation, toolBoundary, upgrade, smokeVscode];
