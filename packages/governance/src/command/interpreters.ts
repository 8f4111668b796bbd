/** A program that runs code given in its words or on its input. */
export interface Interpreter {
  /** Options whose value is code. */
  readonly code: readonly string[];
  /** Short options with a value, to tell clusters apart. */
  readonly values?: string;
  /** Operands name a script file, and none means that the input is the script. */
  readonly readsInput: boolean;
}

const interpreters: readonly { readonly names: RegExp; readonly interpreter: Interpreter }[] = [
  {
    names: /^(?:python|pypy)[\d.]*(?:\.exe)?$|^ipython\d?$/,
    interpreter: { code: ["-c"], values: "cmWX", readsInput: true },
  },
  {
    names: /^(?:node|nodejs|bun|deno|tsx|ts-node)(?:\.exe)?$/,
    interpreter: { code: ["-e", "-p", "-pe", "--eval", "--print", "eval"], values: "r", readsInput: true },
  },
  { names: /^perl[\d.]*$/, interpreter: { code: ["-e", "-E"], values: "CDFIMimx", readsInput: true } },
  { names: /^ruby[\d.]*$/, interpreter: { code: ["-e"], values: "CEFIKTWirx", readsInput: true } },
  { names: /^php[\d.]*$/, interpreter: { code: ["-r", "-B", "-R", "-E", "--run"], values: "", readsInput: true } },
  { names: /^lua(?:jit)?[\d.]*$/, interpreter: { code: ["-e"], values: "l", readsInput: true } },
  { names: /^osascript$/, interpreter: { code: ["-e"], values: "l", readsInput: true } },
  {
    names: /^(?:Rscript|R|julia|elixir|groovy|scala|clojure|ghc|swift|tclsh|expect|guile|racket|sqlite3|psql|mysql)$/,
    interpreter: { code: ["-e", "-c", "--eval"], values: "", readsInput: true },
  },
  { names: /^(?:[gmn]?awk|original-awk|busybox-awk)$/, interpreter: { code: [], values: "", readsInput: false } },
  {
    names: /^(?:vi|vim|nvim|view|ex|ed|emacs|nano|gvim)$/,
    interpreter: { code: ["-c", "--cmd", "--eval", "-S"], values: "", readsInput: true },
  },
];

export function interpreterOf(name: string): Interpreter | undefined {
  return interpreters.find((entry) => entry.names.test(name))?.interpreter;
}

/** Calls in inline code that start a process, whatever the language. */
export const startsProcess =
  /\bos\s*\.\s*(?:system|popen|exec\w*|spawn\w*|posix_spawn\w*|fork)\b|\bsubprocess\b|\bpty\s*\.\s*spawn|\bchild_process\b|\b(?:exec|execFile|spawn|fork)Sync\s*\(|\bDeno\s*\.\s*(?:run|Command)|\bBun\s*\.\s*(?:spawn|\$)|\bsystem\s*[("']|\bshell_exec\b|\bproc_open\b|\bpassthru\b|\bos\.execute\b|\bio\.popen\b|\bdo\s+shell\s+script\b|\bKernel\.\s*(?:exec|system|spawn)|%x[({[]|\bqx\s*[/({[|!]|\bOpen3\b|\bIO\.popen\b|\bexec\s*\(?\s*["']\/?\w|`[^`]*\b(?:rm|sh|bash|curl|git)\b[^`]*`|\b__import__\b|\bctypes\b|:!\S|\bbase64\b.{0,40}\bexec\b|\bexec\b.{0,40}\bbase64\b/;

/** Calls in inline code that delete. */
export const deletes =
  /\brmtree\b|\bos\s*\.\s*(?:remove|unlink|rmdir|removedirs)\b|\.\s*unlink\s*\(|\b(?:unlink|rm|rmdir)Sync\b|\bfs(?:\.promises|\/promises)?["')\s]*\.\s*(?:rm|rmdir|unlink)\s*\(|\bremove_tree\b|\bunlink\s*[("']|\brm_rf?\b|\brm_r\b|\bFile\s*\.\s*delete\b|\bFileUtils\s*\.\s*(?:rm|remove)|\bDir\s*\.\s*(?:rmdir|delete|unlink)\b|\bDeno\s*\.\s*remove|\bos\s*\.\s*remove\b|\bfile_delete\b/;

/** Calls in inline code that truncate a file. */
export const truncates = /\bopen\s*\([^)]*,\s*(?:mode\s*=\s*)?["'][rab]*[wx]/;

/** String literals and path-like words in code: they may be files it touches. */
export function pathsInCode(code: string): readonly string[] {
  const found = new Set<string>();
  for (const match of code.matchAll(/"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`]*)`/g)) {
    const text = match[1] ?? match[2] ?? match[3] ?? "";
    if (text !== "" && text.length < 512 && !/[\n\0]/.test(text)) found.add(text);
  }
  for (const match of code.matchAll(
    /(?:^|[\s"'`(=,:<>])((?:~|\.{1,2})?\/[\w.@/~+-]+|\.[\w][\w./-]*|[\w-]+(?:\/[\w.-]+)+|[\w-]+\.[\w-]+)/g,
  )) {
    if (match[1] !== undefined && match[1].length < 512) found.add(match[1]);
  }
  return [...found].slice(0, 64);
}
