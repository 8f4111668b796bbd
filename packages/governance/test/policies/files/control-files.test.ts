import { describe, expect, it } from "vitest";
import { createControlFilesPolicy } from "#policies/files/control-files";
import { decide, exec, inside, summary, write } from "../effects.ts";

const policy = createControlFilesPolicy({ root: "/ws", directories: ["tools/hooks"], entriesIn: async () => [] });

const refused = [
  ...[".git", ".git/config", ".git/hooks/pre-commit", ".git/worktrees/x/gitdir", "packages/a/.git/hooks/x"],
  ...[".GIT/HOOKS/pre-commit", ".VSCODE/settings.json", ".vscode/tasks.json", ".g\u200bit/config", ".git./config"],
  ...[".git /config", ".git::$INDEX_ALLOCATION/config", ".gi\u0074/config", "git~1/config", ".gennai/rules.yaml"],
  ...[".pi/damage-control-rules.yaml", ".orchestration/agent_trace.jsonl", ".orchestration/active_intents.yaml"],
  ...[".orchestration/AGENT.md/x", ".orchestration/notes/AGENT.md", "sub/.orchestration/AGENT.md"],
  ...[".git/.orchestration/AGENT.md", ".orchestration", ".intentignore", ".mcp.json", "mcp.json", ".cursor/mcp.json"],
  ...[".claude/settings.json", ".codex/config.toml", "opencode.json", "packages/a/OpenCode.jsonc"],
  ...[".opencode/plugins/gennai-guard.js", ".github/copilot/settings.local.json", "sub/.GitHub/hooks/x.json"],
  ...[".idea/workspace.xml", ".devcontainer/devcontainer.json", ".husky/pre-commit", ".yarnrc.yml"],
  ...[".yarn/plugins/x.cjs", ".pnpmfile.cjs", ".envrc", ".huskyrc", ".hg/hgrc", "vendor/x/.jj/repo/config.toml"],
  ...[".gdbinit", "src/.lldbinit", ".exrc", ".nvim.lua", ".agents/skills/x/SKILL.md", ".aider.conf.yml"],
  ...[".aider.model.settings.yml", ".continue/config.yaml", ".continuerc.json", "my.code-workspace"],
  "tools/hooks/pre-commit",
];

const sensitive = [
  ...[".gitattributes", ".gitmodules", ".pre-commit-config.yaml", "package.json", "packages/a/package.json"],
  ...[".npmrc", "Makefile", "gulpfile.mjs", "Gruntfile.js", "CMakeLists.txt", "build.gradle", "pom.xml"],
  ...["conftest.py", "setup.py", "jest.config.js", "babel.config.json", "karma.conf.js", "vite.config.ts"],
  ...["eslint.config.js", ".tool-versions", "mise.toml", ".nvmrc", "AGENTS.md", "CLAUDE.md"],
  ...[".orchestration/AGENT.md", ".orchestration/CLAUDE.md", ".cursorrules", ".github/copilot-instructions.md"],
  ...[".github/workflows/ci.yml", "lint-staged.config.mjs", ".lintstagedrc.json", ".huskyrc.js", ".pylintrc"],
  ...["pytest.ini", ".rspec", "Guardfile", "fixtures/repository/HEAD", ".bazelrc", "WORKSPACE", "lib/BUILD.bazel"],
  ...["tsconfig.json", "packages/a/tsconfig.build.json", "nx.json", "turbo.json", "netlify.toml", "vercel.json"],
  ...["Procfile", "flake.nix", "shell.nix", ".releaserc.yaml", ".github/dependabot.yml", ".github/ISSUE_TEMPLATE.md"],
  ...["AGENTS.override.md", "node_modules/.bin/eslint", "Dockerfile", "docker-compose.yml"],
];

const ordinary = [
  ...[".gitignore", "src/git/config.ts", "src/build/index.ts", "src/workspace/open.ts", "docs/github/README.md"],
  ...["docs/vscode.md", "src/.gitkeep", "src/mcp.ts", "README.md", "src/package.ts"],
];

describe("control files", () => {
  it.each(refused)("refuses to write, delete or propose %j", async (path) => {
    for (const operation of ["create", "update", "delete"] as const) {
      expect(summary(await decide(policy, write(inside(path), { operation })))).toBe("deny control_file");
      expect(summary(await decide(policy, { type: "propose", path: inside(path), operation }))).toBe(
        "deny control_file",
      );
    }
  });

  it("refuses a path that was written as a control file and resolves elsewhere, and the other way round", async () => {
    expect(summary(await decide(policy, write(inside("real/config", ".git/config"))))).toBe("deny control_file");
    expect(summary(await decide(policy, write(inside(".git/config", "link/config"))))).toBe("deny control_file");
  });

  it.each(sensitive)("asks before %s is written, and lets it be proposed", async (path) => {
    expect(summary(await decide(policy, write(inside(path))))).toBe("ask control_file");
    expect(summary(await decide(policy, { type: "propose", path: inside(path), operation: "update" }))).toBe("allow");
  });

  it.each([
    ["config", "ask control_file"],
    ["config.worktree", "ask control_file"],
    ["CommonDir", "ask control_file"],
    ["hooks/post-checkout", "ask control_file"],
    ["description", "allow"],
    ["deep/config", "allow"],
  ])("asks before %s of a repository is written, whatever its directory is called: %s", async (name, expected) => {
    const entriesIn = async (at: string) => (at === "fixtures/r" ? [{ name: "HEAD", kind: "file" } as const] : []);
    const inRepository = createControlFilesPolicy({ root: "/ws", entriesIn });
    const path = inside(`fixtures/r/${name}`);
    expect(summary(await decide(inRepository, write(path, { operation: "update" })))).toBe(expected);
    expect(summary(await decide(inRepository, write(path, { operation: "delete" })))).toBe("allow");
  });

  it("asks before settings of a repository are written where the workspace is one", async () => {
    const entriesIn = async (at: string) => (at === "" ? [{ name: "HEAD", kind: "file" } as const] : []);
    const inRepository = createControlFilesPolicy({ root: "/ws", entriesIn });
    const changed = (path: string) => decide(inRepository, write(inside(path), { operation: "update" }));
    expect(summary(await changed("config"))).toBe("ask control_file");
    expect(summary(await changed("hooks/pre-push"))).toBe("ask control_file");
    expect(summary(await changed("a/config"))).toBe("allow");
  });

  it.each(ordinary)("lets %s be written", async (path) => {
    expect(summary(await decide(policy, write(inside(path))))).toBe("allow");
  });

  it.each(refused.filter((path) => /^[\w./-]+$/.test(path)))("refuses commands that would change %s", async (path) => {
    for (const command of [
      `echo x > ${path}`,
      `mv a ${path}`,
      `mv ${path} a`,
      `rm ${path}`,
      `tee ${path}`,
      `ln -s /x ${path}`,
      `some-tool ${path}`,
    ]) {
      expect(summary(await decide(policy, exec(command))), command).toBe("deny control_file");
    }
  });

  it.each([
    ["cat .vscode/settings.json", "allow"],
    ["ls .git", "allow"],
    ["cat .git/HEAD", "allow"],
    ["cat .git/config", "ask control_file"],
    ["git status", "allow"],
    ["git commit -m 'edit .git/config'", "allow"],
    ["rm .g*", "deny control_file"],
    ["cd .git && echo x > config", "deny control_file"],
    ["sed -n 'w .git/hooks/pre-commit' a", "deny control_file"],
    ["find . -fprint .git/config", "deny control_file"],
    ["git diff --output=.git/config", "deny control_file"],
    ["git format-patch -o .git/hooks HEAD~1", "deny control_file"],
    ["curl -o .vscode/tasks.json http://127.0.0.1/x", "deny control_file"],
    ['python3 -c \'open(".git/config", "w")\'', "deny control_file"],
    ["echo x > package.json", "ask control_file"],
    ["npm test", "allow"],
  ])("%s: %s", async (command, expected) => {
    expect(summary(await decide(policy, exec(command)))).toBe(expected);
  });
});
