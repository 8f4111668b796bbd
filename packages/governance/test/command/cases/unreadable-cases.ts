import type { CommandCases } from "./command-cases.ts";

/** Text that does not parse, or that a person reads as another: control characters, letters that look alike. */
export const unreadableCases: CommandCases = {
  allowed: [],
  neverSilent: [
    ...["ls \u202e", "ls \u00a0x", "ls\u200b", "ls \u0007", "\uff4cs", "l\u0455", "ls;;", "if ls", "ls |", "ls 'x"],
    ...['ls "x', "ls $(x", "ls ${x", "((", "ls )", "}", "ls & & ls", "ls &&"],
    "git log -1 (promisor remote, missing object)",
    ...["tar cf x.tar *  (file named --checkpoint-action=exec=sh x.sh in cwd)", "xz --help; ls *  (file named -rf)"],
    ...["rm\u00a0-rf src", "\u202erm -rf src", "r\u043c -rf src", "ls\rrm -rf src", "echo safe\u001b[2K\rrm -rf src"],
    "rm -rf src\u0000",
  ],
  denied: [
    "ls \u2066; rm -rf src\u2069",
    "ls \u001b[8m; rm -rf src\u001b[0m",
    "ls\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\nrm -rf src",
  ],
};
