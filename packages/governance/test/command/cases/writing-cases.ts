import type { CommandCases } from "./command-cases.ts";

/** Redirections, and programs that write files. */
export const writingCases: CommandCases = {
  neverDenied: ["touch -d yesterday src/a.ts", "find src -name '*.ts' -exec sed -i s/a/b/ {} +", "gzip -k docs/a.txt"],
  asked: ["ls > out.txt", "mkdir x"],
  neverSilent: [
    ...["ls | tee x", "exec ls > x", "ls > $X", "ls &> x", "ls >& x", "ls 2> x", "ls <> x", "(ls) > x"],
    ...["cat << 'EOF' > x\nEOF", "od -An x > y", "md5sum -c x; md5sum x > y", "column -x; tr a b > c"],
    ...["stat -c %n x; stat --printf=x > y", "type -p ls; type x > y", "which -a x; which x>y", "> README.md"],
    ...[": > README.md", "echo x >| README.md", "exec {fd}>README.md", "cat /dev/null > README.md"],
    ...["tee README.md < /dev/null", "echo x | tee -a package-lock.json", "ln -sf /etc/passwd README.md"],
    ...["ln -f src/a.ts README.md", "mv README.md /tmp/gone", "mv -t /tmp README.md", "unzip -o x.zip"],
    ...["cpio -idu < x.cpio", "csplit -f README src/a.ts 1", "script -q README.md -c true", "nohup true >README.md"],
    "cd .git && echo x > config",
  ],
  denied: ["tar xPf x.tar"],
};
