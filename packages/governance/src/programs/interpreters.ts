const interpreters =
  /^(?:(?:python|pypy)[\d.]*|ipython\d?|node|nodejs|bun|deno|tsx|ts-node|perl[\d.]*|ruby[\d.]*|php[\d.]*|lua(?:jit)?[\d.]*|osascript|Rscript|R|julia|elixir|groovy|scala|clojure|ghc|swift|tclsh|expect|guile|racket|sqlite3|psql|mysql|[gmn]?awk|original-awk|vi|vim|nvim|view|ex|ed|emacs|nano|gvim)(?:\.exe)?$/;

/** Whether a program runs code from its words, from a file that they name, or from its input. */
export function isInterpreter(name: string): boolean {
  return interpreters.test(name);
}

/** The same without editors and databases, with shells: the script that they are given may start anything. */
export function isScriptRunner(name: string): boolean {
  return scriptRunners.test(name);
}

const scriptRunners =
  /^(?:python[\d.]*|py|node|nodejs|deno|bun|ruby|perl|php|lua|tclsh|osascript|pwsh|powershell|tsx|ts-node|groovy|rscript|awk|gawk|mawk|bash|sh|zsh|dash|ksh|fish|source|\.)$/;
