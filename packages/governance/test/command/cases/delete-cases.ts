import type { CommandCases } from "./command-cases.ts";

/** Deleting, and how much of it. */
export const deleteCases: CommandCases = {
  neverDenied: ["truncate -s 0 src/log.txt"],
  asked: [
    ...["rm -rf dist", "rm -rf node_modules", "rm -rf packages/core/dist", "rm -r docs/old", "rm src/a.ts"],
    ...["rm -f *.log", "find . -name '*.pyc' -delete"],
    ...["find . -name node_modules -type d -prune -exec rm -rf '{}' +", "command rm x"],
  ],
  neverSilent: ["unlink README.md", "rmdir docs/empty"],
  denied: [
    ...["rm -rf /", "rm -rf ~", "rm -rf ~/", "rm -rf $HOME", "rm -rf .", "rm -rf ..", "rm -rf *", "rm -rf .git"],
    ...["rm -rf /etc", "rm -r /home/dev", 'rm -rf "$X"/*', "rm -rf $X/", "for d in src docs; do rm -rf $d; done"],
    ...["d=src; rm -rf $d", "d=/; rm -rf $d", "find . -delete", "find / -name x -delete", "find . -exec rm -rf {} +"],
    ...["rm -rf src", "rm -fr src", "rm -Rfv src", "rm --recursive --force src", "rm src -rf", "rm -rf -- src"],
    ...["rm -rf ./*", "rm -rf ${HOME:-/}/", "rm -rf /ws/../ws/src", "rm -rf /tmp/safe README.md"],
    "shred -u README.md",
  ],
};
