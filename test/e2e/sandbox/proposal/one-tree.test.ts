import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { startSession } from "../../rpc/session-client.ts";
import { bash, keeping, proposing, turn, twentyLines, wholeTree } from "./proposing.ts";

describe("tools and commands of Proposal Mode work on one staged tree", () => {
  test("they see each other's changes, the workspace has none of them, and all is proposed at the end, once", async () => {
    await using server = await proposing([
      [
        ["Write", { file_path: "src/new.txt", content: "from a tool\n" }],
        bash("cat src/new.txt && echo from a command >> src/new.txt && mkdir -p dist && echo built > dist/x"),
        ["Read", { file_path: "src/new.txt" }],
        ["Edit", { file_path: "src/new.txt", old_string: "from a tool", new_string: "from an edit" }],
        ["Grep", { pattern: "from an? (edit|command)", output_mode: "content" }],
        ["Glob", { pattern: "**/new.txt" }],
        ["LS", { path: "src" }],
        bash("cat src/new.txt dist/x && git status --porcelain"),
      ],
      [bash("cat src/new.txt")],
    ]);
    const before = wholeTree(server);
    const session = await startSession(server, { proposal: true });
    const { results, proposal } = await turn(server, session);
    const [, seen, read, , found, globbed, listed, last] = results;
    expect(seen).toContain("from a tool\n");
    expect(read).toContain("from a command");
    expect(found).toContain("src/new.txt:1:from an edit");
    expect(found).toContain("src/new.txt:2:from a command");
    expect(globbed).toContain("src/new.txt");
    expect(listed).toContain("new.txt");
    expect(last).toContain("from an edit\nfrom a command\nbuilt\n?? src/new.txt\n");
    expect(wholeTree(server)).toEqual(before);
    const { changes, hasConflicts } = proposal();
    expect(hasConflicts).toBe(false);
    expect(changes).toMatchObject([
      { path: "src/new.txt", newContent: "from an edit\nfrom a command\n", baseSha256: "" },
    ]);
    const second = await turn(server, session);
    expect(second.results[0]).toContain("from an edit\nfrom a command");
    expect(second.proposals).toEqual([]);
    expect(wholeTree(server)).toEqual(before);
  });

  test("commands' new, changed, moved, deleted, binary files and modes are in the proposal, with the command", async () => {
    const files = {
      "gone.txt": "gone\n",
      "old/name.txt": twentyLines.replaceAll("line", "row"),
      "run.sh": "#!/bin/sh\n",
    };
    await using server = await proposing(
      [
        [
          ["Read", { file_path: "a.txt" }],
          ["Edit", { file_path: "a.txt", old_string: "line 2\n", new_string: "second\n" }],
          bash("sed -i 's/line 19/nineteenth/' a.txt"),
          bash(
            "rm gone.txt && mkdir neu && mv old/name.txt neu/name.txt && chmod +x run.sh && printf '\\0\\1\\2' > data.bin",
          ),
          bash("ls; ls neu; stat -c %a run.sh; [ -e old ] || echo no old"),
        ],
      ],
      files,
    );
    const before = wholeTree(server);
    const session = await startSession(server, { proposal: true });
    const { results, proposal } = await turn(server, session);
    expect(results[4]).not.toContain("gone.txt");
    expect(results[4]).toContain("name.txt\n755\nno old");
    expect(wholeTree(server)).toEqual(before);
    const changes = new Map(proposal().changes.map((change) => [change.path, change]));
    expect([...changes.keys()]).toEqual(["a.txt", "data.bin", "gone.txt", "neu/name.txt", "old/name.txt", "run.sh"]);
    expect(changes.get("a.txt")?.hunks.map(({ commands }) => commands)).toEqual([
      [],
      ["sed -i 's/line 19/nineteenth/' a.txt"],
    ]);
    expect(changes.get("data.bin")).toMatchObject({ binary: true, hunks: [], operation: 1 });
    expect(changes.get("gone.txt")).toMatchObject({ operation: 3 });
    expect(changes.get("neu/name.txt")).toMatchObject({ operation: 1, movedFrom: "old/name.txt" });
    expect(changes.get("run.sh")).toMatchObject({ operation: 2, newMode: 0o755, hunks: [] });
    expect(changes.get("run.sh")?.commands[0]).toContain("chmod +x run.sh");

    const applied = await server.client.applyProposal({
      sessionId: session,
      proposalId: proposal().proposalId,
      hunks: keeping(proposal(), () => true),
    });
    expect(applied.files).toHaveLength(6);
    const { root } = server.workspace;
    expect(readFileSync(join(root, "a.txt"), "utf8")).toBe(
      twentyLines.replace("line 2\n", "second\n").replace("line 19", "nineteenth"),
    );
    expect(readFileSync(join(root, "data.bin"))).toEqual(Buffer.from([0, 1, 2]));
    expect(existsSync(join(root, "gone.txt"))).toBe(false);
    expect(existsSync(join(root, "old/name.txt"))).toBe(false);
    expect(statSync(join(root, "run.sh")).mode & 0o777).toBe(0o755);
    expect(readFileSync(join(root, "neu/name.txt"), "utf8")).toBe(files["old/name.txt"]);
  });

  test("what cannot be proposed is not kept, and the model is told", async () => {
    await using server = await proposing([
      [
        bash("echo 2 > src/b.txt && git -c user.name=a -c user.email=a@example.com commit -qam more"),
        bash("git merge other"),
        bash("ln -s a.txt link && echo 3 > src/b.txt && git add -A"),
        ["Bash", { command: "sleep 100", run_in_background: true }],
        bash("echo evil > AGENTS.md; echo 4 > src/b.txt"),
        bash("cat src/b.txt; ls AGENTS.md; git log --format=%s | wc -l"),
      ],
    ]);
    const { workspace } = server;
    const branch = await workspace.git("branch", "--show-current");
    for (const at of ["other", branch]) {
      await workspace.git("checkout", "-q", "-B", at, ...(at === branch ? [branch] : []));
      await workspace.write("src/b.txt", `${at}\n`);
      await workspace.git("commit", "-qam", at);
    }
    const before = wholeTree(server);
    const session = await startSession(server, { proposal: true });
    const { results, proposal } = await turn(server, session);
    expect(results[0]).toContain("in Proposal Mode git's data stays as it is");
    expect(results[1]).toContain("it changed what git has under way");
    expect(results[2]).toContain("link (a link cannot be proposed)");
    expect(results[2]).toContain("git's index");
    expect(results[3]).toContain("Nothing runs in the background");
    expect(results[4]).toContain("nothing it changed was kept");
    expect(results[5]).toContain("3\n");
    expect(proposal().changes.map(({ path }) => path)).toEqual(["src/b.txt"]);
    expect(wholeTree(server)).toEqual(before);
  });
});
