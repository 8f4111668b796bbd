import type { CommandCases } from "./command-cases.ts";

/** Programs that run another: what they run counts, also as text and as input. */
export const wrapperCases: CommandCases = {
  allowed: [],
  // Unquoted, a variable in a wrapper's own words may bring a command of its own.
  asked: [
    ...["timeout $(cat x) ls", "nice -n $(cat x) ls", "stdbuf -o$(cat x) ls", "timeout 1* ls", "xargs cat < list"],
    "find . -type f | xargs cat",
  ],
  neverSilent: [
    ...["xargs", "xargs sh", "xargs -I{} {} x", "echo x | xargs", "command -v x; command x", "builtin eval x"],
    ...["time -o x ls", "timeout 5", "nice", "nohup ls", "cat <<EOF | sh\nls\nEOF", "bash", "bash x", "bash -s < x"],
    ...["sh -c", "sh -c 'touch x'", "sh -c 'ls' ; sh -c \"$X\"", "busybox touch x", "busybox sh -c 'touch x'"],
    ...["env -S 'touch x'", "env sh -c 'touch x'", "cut -f1 x | sh", "ls|xargs -n1 touch"],
    ...["find . -name x | xargs -I{} touch {}", "watch ls", "sudo ls", "su", "time -p touch x", "bash src/x.sh"],
  ],
  denied: [
    ...["setpriv --no-new-privs rm -rf src", "capsh -- -c 'rm -rf src'"],
    ...["/lib64/ld-linux-x86-64.so.2 /bin/rm -rf src", "echo cm0gLXJm|base64 -d|sh", "echo 'rm -rf src' | sh"],
    ...["bash -c 'bash -c \"rm -rf src\"'", "env -S 'rm -rf src'", "nice -n 5 timeout 3 rm -rf src"],
    ...["find . -name x -exec sh -c 'rm -rf src' \\;", "xargs -I{} rm -rf {}", "tmux new-session -d 'rm -rf src'"],
    ...["watch rm -rf src", "su -c 'rm -rf src'", "su root -c 'rm -rf src'", "parallel rm -rf ::: src"],
    ...["script -qc 'rm -rf src' /dev/null", "sudo -i rm -rf /", "echo 726d202d7266207372630a | xxd -r -p | sh"],
    ...["echo 'ez -es fep' | tr a-z n-za-m | sh", "exec rm -rf src", "builtin command rm -rf src", "time rm -rf src"],
    ...["eval 'rm -rf src'", "sudo rm -rf src", "sudo -u dev -- rm -rf src", "doas rm -rf src", "env rm -rf src"],
    ...["env -i FOO=1 rm -rf src", "env -u USER -C /ws rm -rf src", "timeout 10s rm -rf src"],
    ...["timeout -k 1 -s KILL 10 rm -rf src", "unshare rm -rf src", "nsenter -t 1 -a rm -rf /"],
    ...["chroot / rm -rf ws/src", "flock /tmp/l rm -rf src", "xargs rm -rf <<< src"],
    ...["printf 'src\\0' | xargs -0 rm -rf", "echo 'rm -rf src' | xargs -I{} sh -c {}", "bash -c 'rm -rf src'"],
    ...["bash -lc 'rm -rf src'", "bash -ec 'rm -rf src'", "bash -e -c 'rm -rf src'", "zsh -c 'rm -rf src'"],
    ...["dash -c 'rm -rf src'", "ash -c 'rm -rf src'", "bash --init-file <(echo 'rm -rf src') -i"],
    ...["at now <<< 'rm -rf src'", "crontab - <<< '* * * * * rm -rf /ws'", "screen -dm rm -rf src"],
  ],
  neverDenied: ["sh -c 'echo hello'", "env LC_ALL=C sort data.txt", "timeout 5 ls"],
};
