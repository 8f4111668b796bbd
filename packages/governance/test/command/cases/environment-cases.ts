import type { CommandCases } from "./command-cases.ts";

/** Variables: what they show, and what setting them makes other programs do. */
export const environmentCases: CommandCases = {
  allowed: [],
  asked: [
    ...["printenv", "env", "echo $GITHUB_TOKEN", "NODE_OPTIONS=--max-old-space-size=4096 npm run build"],
    ...["PATH=.:$PATH ls", "PATH=.; ls", "read PATH", "jq env package.json"],
  ],
  neverSilent: [
    ...["read PATH <<< .; ls", "export PATH=.; ls", "for PATH in .; do ls; done", "jq -n env", "jq -n '$ENV'"],
    ...["env FOO=x", "set", "export", "declare", "printenv HOME", "ps e", "history", "unset PATH", "echo ${!GH*}"],
    ...["LD_PRELOAD=x", "BASH_ENV=x ls", "PATH=x ls", "PS4='$(id)'; set -x; ls", "set -x; PS4=x", "FOO=x ls"],
    ...["PROMPT_COMMAND='rm -rf src'", "BASH_ENV=./x.sh bash -c true", "ENV=./x.sh sh -i"],
    "PYTHONPATH=. python3 -m pytest",
  ],
  denied: [
    ...["LD_PRELOAD=./x ls", "GIT_SSH_COMMAND=./x git fetch", "RIPGREP_CONFIG_PATH=./rgrc rg x"],
    ...["PAGER=./evil git log", "EDITOR=./evil crontab -e", "NODE_OPTIONS='--require ./evil.js' npm test"],
    ...["export GIT_PAGER=./evil; git log", "typeset -x PYTHONSTARTUP=./evil", "PERL5OPT=-Mevil perl -v"],
    ...["PYTHONWARNINGS=all:0:antigravity.x:0:0 python3 -V", "BROWSER=./evil python3 -m webbrowser x"],
  ],
  neverDenied: ["LC_ALL=C sort data.txt"],
};
