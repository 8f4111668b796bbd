import type { OptionSpec } from "./option-spec.ts";

/** A program that runs another one given in its words. */
export interface Wrapper {
  /** Its own options, so that the inner command is found. */
  readonly options: OptionSpec;
  /** Operands of its own before the inner command, e.g. the duration of `timeout`. */
  readonly operands?: number;
  /** `NAME=value` words before the inner command set its environment. */
  readonly assignments?: true;
  /** The option that sets the inner command's directory. */
  readonly directory?: string;
  /** The option whose value is a script, e.g. `env -S`. */
  readonly script?: readonly string[];
  /** Options with which it only prints, e.g. `command -v`. */
  readonly prints?: readonly string[];
  /** The inner command gets further words from the input. */
  readonly appendsInput?: true;
  /** The inner words are joined and given to a shell. */
  readonly joins?: true;
  /** Options may follow its operands, which are no command. */
  readonly permutes?: true;
}

export const wrappers: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries({
    env: {
      options:
        "-i -0 -v - -u= -C= -S= --ignore-environment --null --unset= --chdir= --split-string= --debug --block-signal? --default-signal? --ignore-signal?",
      assignments: true,
      directory: "-C",
      script: ["-S", "--split-string"],
    },
    nice: { options: "-n= -# --adjustment=" },
    ionice: { options: "-c= -n= -p= -t --class= --classdata= --ignore" },
    timeout: {
      options: "-k= -s= -v -f --kill-after= --signal= --preserve-status --foreground --verbose",
      operands: 1,
    },
    time: { options: "-p -v -f= -a --portability --verbose --format= --append" },
    command: { options: "-p -v -V", prints: ["-v", "-V"] },
    builtin: { options: "" },
    stdbuf: { options: "-i= -o= -e= --input= --output= --error=" },
    busybox: { options: "" },
    toybox: { options: "" },
    exec: { options: "-c -l -a=" },
    nohup: { options: "" },
    setsid: { options: "-c -f -w --ctty --fork --wait" },
    chrt: { options: "-b -f -i -o -r -R -p -a -m -v -d -D= -P= -T=", operands: 1 },
    taskset: { options: "-a -c -p --all-tasks --cpu-list --pid", operands: 1 },
    unshare: {
      options:
        "-m? -u? -i? -n? -p? -U? -C? -T? -f -r -c --fork --map-root-user --mount? --pid? --net? --user? --mount-proc? --kill-child? -R= -w= -S= -G= --root= --wd=",
    },
    nsenter: {
      options:
        "-t= -a -m? -u? -i? -n? -p? -U? -C? -T? -r? -w? -F -Z -S= -G= --target= --all --mount? --pid? --net? --user?",
    },
    chroot: { options: "--userspec= --groups= --skip-chdir", operands: 1 },
    flock: {
      options:
        "-s -e -x -n -u -o -F -v -w= -E= -c= --shared --exclusive --nonblock --unlock --close --no-fork --timeout= --command=",
      operands: 1,
      script: ["-c", "--command"],
    },
    sudo: {
      options:
        "-A -b -E -e -H -i -k -K -l -n -P -S -s -v -B -N -u= -g= -h= -p= -C= -D= -R= -T= -U= -r= -t= --user= --group= --preserve-env? --login --shell --stdin --non-interactive --chdir= --set-home --background",
      assignments: true,
      directory: "-D",
    },
    doas: { options: "-L -n -s -u= -C=" },
    pkexec: { options: "--user= --disable-internal-agent --keep-cwd" },
    su: {
      options: "-l -m -p -f -P - --login --preserve-environment -c= --command= -s= --shell= -g= -G= -w=",
      operands: 1,
      script: ["-c", "--command"],
      permutes: true,
    },
    runuser: {
      options: "-l -m -p -f -P - -u= -c= -s= -g= -G= --login --command= --user=",
      script: ["-c", "--command"],
    },
    xargs: {
      options:
        "-0 -r -t -p -x -o -i? -e? -l? -a=@ -d= -E= -I= -L= -n= -P= -s= -J= -R= -S= --null --no-run-if-empty --verbose --interactive --exit --open-tty --arg-file=@ --delimiter= --max-args= --max-procs= --max-lines? --max-chars= --replace? --eof? --process-slot-var= --show-limits",
      appendsInput: true,
    },
    parallel: {
      options:
        "-0 -k -X -m -j= -n= -N= -I= -a=@ -d= -S= -v --jobs= --keep-order --null --dry-run --bar --eta --halt= --delay= --timeout= --colsep= --tag --will-cite --retries= --pipe --sshlogin=",
      appendsInput: true,
      joins: true,
    },
    watch: {
      options:
        "-b -c -C -d? -e -g -p -q= -r -t -w -x -n= --interval= --differences? --errexit --chgexit --no-title --exec --color --beep",
      joins: true,
    },
    screen: { options: "-d -m -D -R -r -A -a -x -q -U -L -i -S= -c= -e= -h= -p= -s= -t= -T= -X" },
    tmux: { options: "-2 -C -D -l -N -u -v -V -c= -f= -L= -S= -T=" },
    script: {
      options: "-a -e -f -q -c= -I= -O= -B= -T= -E= -o= -m= --command= --append --return --flush --quiet",
      script: ["-c", "--command"],
      operands: 1,
      permutes: true,
    },
    unbuffer: { options: "-p" },
    strace: {
      options: "-f -ff -q -qq -t -tt -T -v -y -yy -c -C -r -i -k -o= -e= -p= -s= -u= -E= -P= -I= -S= -a= -b= -O= -X=",
      assignments: true,
    },
    ltrace: { options: "-f -c -C -i -S -t -tt -r -o= -e= -l= -s= -u= -n= -p=" },
    caffeinate: { options: "-d -i -m -s -u -t= -w=" },
    firejail: { options: "--quiet --net? --private? --noprofile" },
    "systemd-run": {
      options:
        "--user --scope --wait --pipe --pty -t -P -q --quiet --unit= -p= --property= -E= --setenv= --uid= --gid= --working-directory= -d -G --collect --on-active= --on-calendar= --on-boot=",
    },
    "dbus-run-session": { options: "" },
    "xvfb-run": { options: "-a -e= -f= -l -n= -p= -s= --auto-servernum --server-args=" },
    faketime: { options: "-f -m", operands: 1 },
    catchsegv: { options: "" },
    setpriv: {
      options:
        "--clear-groups --keep-groups --init-groups --no-new-privs --nnp --reset-env --groups= --reuid= --regid= --ruid= --euid= --rgid= --egid= --inh-caps= --ambient-caps= --bounding-set= --securebits= --pdeathsig= --selinux-label= --apparmor-profile= -d",
    },
    setarch: { options: "-R -B -3 -L -X -Z", operands: 1 },
    linux32: { options: "" },
    linux64: { options: "" },
    noglob: { options: "" },
    nocorrect: { options: "" },
  } satisfies Record<string, Wrapper>),
);

/** Wrappers that run with more rights than the user has. */
export const privilegedWrappers: ReadonlySet<string> = new Set(["sudo", "doas", "pkexec", "su", "runuser"]);

/** Shells: `-c` text, a here-document or piped input is a script in them. */
export const shells: ReadonlySet<string> = new Set(
  "capsh sh bash zsh dash ash ksh ksh93 mksh fish csh tcsh rbash bash.exe sh.exe wsl wsl.exe".split(" "),
);
