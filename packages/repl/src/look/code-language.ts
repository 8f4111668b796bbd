import type { LanguageSupport, StreamParser } from "@codemirror/language";

/**
 * The language of a file by its name, with its parser at `language.parser`; undefined for an unknown one. Each language is a
 * script of its own, which is loaded when its first file is shown; rejects if it cannot be loaded.
 */
export async function loadCodeLanguage(path: string): Promise<LanguageSupport | undefined> {
  return loaderOf(path)?.();
}

/** True if `loadCodeLanguage` knows a language for the file. */
export function hasCodeLanguage(path: string): boolean {
  return loaderOf(path) !== undefined;
}

type Loader = () => Promise<LanguageSupport>;

function loaderOf(path: string): Loader | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  return byName.get(name) ?? (name.includes(".") ? byEnding.get(name.slice(name.lastIndexOf(".") + 1)) : undefined);
}

const script =
  (options: { readonly jsx?: boolean; readonly typescript?: boolean }): Loader =>
  async () =>
    (await import("@codemirror/lang-javascript")).javascript(options);

const html: Loader = async () => (await import("@codemirror/lang-html")).html();
const json: Loader = async () => (await import("@codemirror/lang-json")).json();
const xml: Loader = async () => (await import("@codemirror/lang-xml")).xml();
const yaml: Loader = async () => (await import("@codemirror/lang-yaml")).yaml();
const shell = older(async () => (await import("@codemirror/legacy-modes/mode/shell")).shell);
const dockerFile = older(async () => (await import("@codemirror/legacy-modes/mode/dockerfile")).dockerFile);
const properties = older(async () => (await import("@codemirror/legacy-modes/mode/properties")).properties);
const ruby = older(async () => (await import("@codemirror/legacy-modes/mode/ruby")).ruby);

/** Loads an older kind of language support, which reads line by line, without a tree. */
function older(load: () => Promise<StreamParser<unknown>>): Loader {
  return async () => {
    const [{ LanguageSupport, StreamLanguage }, mode] = await Promise.all([import("@codemirror/language"), load()]);
    return new LanguageSupport(StreamLanguage.define(mode));
  };
}

function table(rows: readonly (readonly [names: string, load: Loader])[]): ReadonlyMap<string, Loader> {
  return new Map(rows.flatMap(([names, load]) => names.split(" ").map((name) => [name, load] as const)));
}

const byName = table([
  ["dockerfile containerfile", dockerFile],
  [".bashrc .profile .zshrc .envrc", shell],
  [".editorconfig .gitconfig .npmrc", properties],
  ["gemfile rakefile", ruby],
  [".prettierrc .babelrc", json],
]);

const byEnding = table([
  ["js mjs cjs jsx", script({ jsx: true })],
  ["ts mts cts", script({ typescript: true })],
  ["tsx", script({ jsx: true, typescript: true })],
  ["json jsonc json5 map ipynb code-workspace", json],
  ["html htm vue svelte", html],
  ["css scss less", async () => (await import("@codemirror/lang-css")).css()],
  ["md markdown mdx", async () => (await import("@codemirror/lang-markdown")).markdown()],
  ["py pyi", async () => (await import("@codemirror/lang-python")).python()],
  ["rs", async () => (await import("@codemirror/lang-rust")).rust()],
  ["go", async () => (await import("@codemirror/lang-go")).go()],
  ["java", async () => (await import("@codemirror/lang-java")).java()],
  ["c h cc cpp cxx hpp hh ino", async () => (await import("@codemirror/lang-cpp")).cpp()],
  ["php", async () => (await import("@codemirror/lang-php")).php()],
  ["xml svg xsd xsl plist csproj", xml],
  ["yaml yml", yaml],
  ["sql", async () => (await import("@codemirror/lang-sql")).sql()],
  ["sh bash zsh ksh", shell],
  ["dockerfile", dockerFile],
  ["rb", ruby],
  ["ini cfg conf properties env", properties],
  ["toml", older(async () => (await import("@codemirror/legacy-modes/mode/toml")).toml)],
  ["cs", older(async () => (await import("@codemirror/legacy-modes/mode/clike")).csharp)],
  ["kt kts", older(async () => (await import("@codemirror/legacy-modes/mode/clike")).kotlin)],
  ["scala", older(async () => (await import("@codemirror/legacy-modes/mode/clike")).scala)],
  ["dart", older(async () => (await import("@codemirror/legacy-modes/mode/clike")).dart)],
  ["proto", older(async () => (await import("@codemirror/legacy-modes/mode/protobuf")).protobuf)],
  ["swift", older(async () => (await import("@codemirror/legacy-modes/mode/swift")).swift)],
  ["lua", older(async () => (await import("@codemirror/legacy-modes/mode/lua")).lua)],
  ["ps1 psm1", older(async () => (await import("@codemirror/legacy-modes/mode/powershell")).powerShell)],
  ["diff patch", older(async () => (await import("@codemirror/legacy-modes/mode/diff")).diff)],
]);
