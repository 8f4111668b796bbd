import type { OptionSpec } from "../../programs/program.ts";

/** A program that runs another one given in its words. */
export interface Wrapper {
  /** Its own options, so that the inner command is found. */
  readonly options: OptionSpec;
  /** The wrapper's own operands before the inner command, e.g. the duration of `timeout`. */
  readonly operands?: number;
  /** `NAME=value` words before the inner command set its environment. */
  readonly assignments?: true;
  /** Options that set the inner command's directory. */
  readonly directory?: readonly string[];
  /** Options whose value is a script, e.g. `env -S`. */
  readonly script?: readonly string[];
  /** Options with which it only prints, e.g. `command -v`. */
  readonly prints?: readonly string[];
  /** The inner command gets further words from the input. */
  readonly appendsInput?: true;
}

/** Wrappers used in everyday commands. */
export const wrappers: ReadonlyMap<string, Wrapper> = new Map(
  Object.entries<Wrapper>({
    env: {
      options:
        "-i -0 -v - -u= -C= -S= --ignore-environment --null --unset= --chdir= --split-string= --debug --block-signal? --default-signal? --ignore-signal?",
      assignments: true,
      directory: ["-C", "--chdir"],
      script: ["-S", "--split-string"],
    },
    nice: { options: "-n= -# --adjustment=" },
    ionice: { options: "-c= -n= -p= -t --class= --classdata= --ignore" },
    timeout: {
      options: "-k= -s= -v -f --kill-after= --signal= --preserve-status --foreground --verbose",
      operands: 1,
    },
    time: { options: "-p -v -f= -a -o=> --portability --verbose --format= --append --output=>" },
    command: { options: "-p -v -V", prints: ["-v", "-V"] },
    builtin: { options: "" },
    stdbuf: { options: "-i= -o= -e= --input= --output= --error=" },
    busybox: { options: "" },
    toybox: { options: "" },
    exec: { options: "-c -l -a=" },
    nohup: { options: "" },
    setsid: { options: "-c -f -w --ctty --fork --wait" },
    sudo: {
      options:
        "-A -b -E -e -H -i -k -K -l -n -P -S -s -v -B -N -u= -g= -h= -p= -C= -D= -R= -T= -U= -r= -t= --user= --group= --preserve-env? --login --shell --stdin --non-interactive --chdir= --set-home --background",
      assignments: true,
      directory: ["-D", "--chdir"],
    },
    xargs: {
      options:
        "-0 -r -t -p -x -o -i? -e? -l? -a=@ -d= -E= -I= -L= -n= -P= -s= -J= -R= -S= --null --no-run-if-empty --verbose --interactive --exit --open-tty --arg-file=@ --delimiter= --max-args= --max-procs= --max-lines? --max-chars= --replace? --eof? --process-slot-var= --show-limits",
      appendsInput: true,
    },
  }),
);

/** Others: where in their words the inner command begins is not known. */
export const rareWrappers: ReadonlySet<string> = new Set(
  "chrt taskset unshare nsenter chroot flock doas pkexec su runuser parallel watch screen tmux script unbuffer strace ltrace caffeinate firejail systemd-run dbus-run-session xvfb-run faketime catchsegv setpriv setarch linux32 linux64 noglob nocorrect".split(
    " ",
  ),
);

/** Wrappers that run with more rights than the user has. */
export const privilegedWrappers: ReadonlySet<string> = new Set(["sudo", "doas", "pkexec", "su", "runuser"]);

/** Shells: `-c` text, a here-document or piped input is a script in them. */
export const shells: ReadonlySet<string> = new Set(
  "capsh sh bash zsh dash ash ksh ksh93 mksh fish csh tcsh rbash bash.exe sh.exe wsl wsl.exe".split(" "),
);
