import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import type { WorkbenchReport } from "@gennai/sessions/policy-workbench/workbench-report";
import { type CommandFixture, commandFixture, workspacePlaces } from "../../command-fixture.ts";
import { type Checks, type CorpusCase, check, loadCases } from "../../corpus-case.ts";
import { sharedFixture } from "../../shared-fixtures.ts";
import { fits } from "../commands/commands.ts";

/** Words of cases that are replaced with paths. */
const pathsOf: Readonly<Record<string, readonly string[]>> = {
  ".orchestration/": [".orchestration"],
  "create .agent/damage-control-rules.yaml when absent": [".agent/damage-control-rules.yaml"],
  "~/.config/agent/** , ~/.local/state/agent/**": ["~/.config/gennai/rules.yaml", "~/.local/state/gennai/key"],
  "core.hooksPath directory": [".hooks/pre-commit"],
  "package.json scripts": ["package.json"],
  ".yarnrc.yml yarnPath / plugins": [".yarnrc.yml", ".yarn/plugins/x.cjs", ".yarn/releases/yarn.cjs"],
  "Makefile / CMake / build.gradle / pom.xml": ["Makefile", "CMakeLists.txt", "build.gradle", "pom.xml"],
  ".bashrc, .profile, .zshenv, .config/fish": ["~/.bashrc", "~/.profile", "~/.zshenv", "~/.config/fish/config.fish"],
  ".ssh/config, .ssh/authorized_keys": ["~/.ssh/config", "~/.ssh/authorized_keys", ".ssh/config"],
  ".gitconfig": ["~/.gitconfig"],
  ".ripgreprc, .inputrc, .curlrc, .wgetrc in $HOME": ["~/.ripgreprc", "~/.inputrc", "~/.curlrc", "~/.wgetrc"],
  "LaunchAgents, systemd user units, cron": [
    "~/Library/LaunchAgents/x.plist",
    "~/.config/systemd/user/x.service",
    "/etc/cron.d/x",
  ],
  "/tmp/agent-*.sock, fixed /tmp names": ["/tmp/agent-1.sock", "/tmp/gennai.sock"],
};

/** Each operation of a case, by the tool and by the shell where both can do it. */
async function decideOperation(each: CorpusCase, fixture: CommandFixture): Promise<void> {
  const [, operation = "", target = ""] =
    /^(write|shell redirect|rename over): (.*?)(?: \([^)]*\))?$/.exec(each.input) ?? [];
  const paths = pathsOf[target] ?? target.split(", ").map((path) => path.replace("**", "x.yml").replace("*", "x"));
  const accepted = fits[each.required];
  assert.ok(operation !== "" && accepted, `not understood: ${each.input}`);
  for (const path of paths) {
    const named = path.startsWith("~/") ? `${fixture.home}${path.slice(1)}` : path;
    const reports: WorkbenchReport[] = [];
    if (operation === "write") {
      reports.push(
        path === ".orchestration"
          ? await fixture.workbench.decide("Move", { from: path, to: "elsewhere" })
          : await fixture.workbench.decide("Write", { file_path: named, content: "x\n" }),
      );
    } else if (operation === "shell redirect") {
      reports.push(
        ...(path === ".orchestration"
          ? [await fixture.decide("mv .orchestration elsewhere")]
          : [await fixture.decide(`echo x > ${path}`), await fixture.decide(`echo x | tee -a ${path}`)]),
      );
    } else {
      reports.push(
        await fixture.decide(`mv src/a.ts ${path}`),
        await fixture.workbench.decide("Move", { from: "src/a.ts", to: named }),
      );
    }
    for (const { verdict, rule, reason, tool } of reports)
      assert.ok(accepted(verdict), `${path} by ${tool}: ${verdict} ${rule} ${reason}`);
  }
}

/** The directory of hooks is where git's configuration says. */
async function configuredHooks(each: CorpusCase): Promise<void> {
  await using fixture = await commandFixture("apart", {
    prepare: ({ root }) => void execFileSync("git", ["config", "core.hooksPath", ".hooks"], { cwd: root }),
  });
  await decideOperation(each, fixture);
}

export const selfProtectionChecks: Checks = Object.fromEntries(
  loadCases()
    .filter(({ group }) => group === "selfprotect")
    .map((each) => [
      each.id,
      check(async () => {
        if (each.input.includes("core.hooksPath")) return configuredHooks(each);
        for (const place of workspacePlaces)
          for (const intent of [undefined, "INT-001"]) await decideOperation(each, await sharedFixture(place, intent));
      }),
    ]),
);
