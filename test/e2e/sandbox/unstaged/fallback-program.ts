// Run as a program, in mounts of a test's own: prints the result of commands where no overlay can be mounted over the workspace.
import { execFileSync } from "node:child_process";
import { readFileSync, truncateSync, writeFileSync } from "node:fs";
import { runCommands } from "../../../effects/runs/run-commands.ts";

/** One that only reads, and one that writes: there is nobody to ask. */
const commands = ["ls cache && cat a.txt", "echo changed > a.txt"].map((command, index) => {
  return { id: String(index), class: "fallback", command };
});

const results: { readonly outcome: string; readonly rules: readonly string[]; readonly text: string }[] = [];
const [place = "overlay"] = process.argv.slice(2);
const isMounted = place !== "overlay";
await runCommands(commands, {
  files: { "a.txt": "as it was\n", "cache/x": "x\n", ".gitignore": "cache/mounted\nlarge.bin\n" },
  timeoutMs: 20_000,
  place: "staged if possible",
  begin: (server) => {
    const inside = server.workspace.path("cache");
    if (!isMounted) return;
    if (place === "too-large") {
      const large = server.workspace.path("large.bin");
      writeFileSync(large, "");
      // Of holes: it takes no room, but what is copied is counted by sizes, and this is more than may be.
      truncateSync(large, 2 ** 30);
    }
    execFileSync("mount", ["-t", "tmpfs", "x", inside]);
    execFileSync("touch", [`${inside}/mounted`, `${inside}/x`]);
  },
  onResult: ({ id, outcome, rules }, server) => {
    if (isMounted && id === commands.at(-1)?.id) execFileSync("umount", ["-l", server.workspace.path("cache")]);
    results.push({ outcome, rules, text: readFileSync(server.workspace.path("a.txt"), "utf8") });
  },
});
process.stdout.write(JSON.stringify(results));
