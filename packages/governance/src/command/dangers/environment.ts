/** Variables whose value programs run, load or read as configuration. */
const runsCode =
  /^(?:LD_(?:PRELOAD|AUDIT|LIBRARY_PATH)|DYLD_.+|BASH_ENV|ENV|PROMPT_COMMAND|PS[0-4]|SHELLOPTS|BASHOPTS|BASH_FUNC_.+|GIT_(?!AUTHOR_|COMMITTER_|PS1_|TERMINAL_PROMPT$|OPTIONAL_LOCKS$|MERGE_AUTOEDIT$|TRACE).+|(?:.+_)?(?:PAGER|EDITOR|VISUAL|ASKPASS|BROWSER)|LESSOPEN|LESSCLOSE|MANOPT|RIPGREP_CONFIG_PATH|NODE_OPTIONS|NODE_PATH|npm_config_.+|NPM_CONFIG_.+|PYTHON(?:STARTUP|WARNINGS|HOME|INSPECT|BREAKPOINT|EXECUTABLE|PATH)|PERL5(?:OPT|LIB|DB)|PERLLIB|RUBY(?:OPT|LIB)|GEM_(?:HOME|PATH)|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAVEN_OPTS|GRADLE_OPTS|RUSTC?_?WRAPPER|RUSTC|CARGO_.*(?:WRAPPER|RUNNER|LINKER)|CC|CXX|LD|MAKEFLAGS|MAKE|TAR_OPTIONS|RSYNC_RSH|CVS_RSH|SVN_SSH|SSH_ASKPASS_REQUIRE|XDG_CONFIG_.+|HOME|PATH|path|fpath|cdpath|CDPATH|IFS|GREP_OPTIONS|AWKPATH|AWKLIBPATH|LUA_(?:INIT|PATH|CPATH).*|PHPRC|PHP_INI_SCAN_DIR|OPENSSL_CONF|SSLKEYLOGFILE|CURL_HOME|WGETRC|INPUTRC|TERMINFO|TERMCAP|GCONV_PATH|LOCPATH|HOSTALIASES|RESOLV_HOST_CONF|ZDOTDIR|DOCKER_HOST|DOCKER_CONFIG|KUBECONFIG|https?_proxy|HTTPS?_PROXY|ALL_PROXY|all_proxy)$/;

/** Variables that, if set at all, are an attack on later commands: refused, not asked, unless the value is harmless. */
const refused =
  /^(?:LD_PRELOAD|LD_AUDIT|DYLD_.+|PROMPT_COMMAND|GIT_(?:SSH|SSH_COMMAND|EXTERNAL_DIFF|PAGER|EDITOR|SEQUENCE_EDITOR|ASKPASS|PROXY_COMMAND|EXEC_PATH|CONFIG.*|TEMPLATE_DIR|ALTERNATE_OBJECT_DIRECTORIES)|(?:.+_)?(?:PAGER|EDITOR|VISUAL|ASKPASS|BROWSER)|LESSOPEN|LESSCLOSE|RIPGREP_CONFIG_PATH|PYTHON(?:STARTUP|WARNINGS|HOME|BREAKPOINT|EXECUTABLE)|PERL5(?:OPT|DB)|RUBYOPT|LUA_INIT.*|RSYNC_RSH|TAR_OPTIONS)$/;

/** Values that only name a plain program which does nothing but show or succeed. */
const harmlessValue =
  /^(?:|true|false|:|cat|0|1|less|more|vi|vim|nano|code|code --wait|\/bin\/true|\/usr\/bin\/true|\/bin\/cat)$/;

/** True when setting it is refused: there is no everyday use of such a value, and every use of it runs code unseen. */
function isRefusedVariable(name: string, value: string | undefined): boolean {
  if (name === "NODE_OPTIONS")
    return /(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader|--inspect\S*|--eval)/.test(value ?? "");
  if (!refused.test(name)) return false;
  if (
    name === "PYTHONWARNINGS" &&
    value !== undefined &&
    /^(?:ignore|default|error|always|once|module)(?:::\w+)?$/.test(value)
  )
    return false;
  return value === undefined || !harmlessValue.test(value);
}

/** Values for a pager or an editor that only show, or change nothing. */
export const changesNothing = /^(?:cat|true|:|)$/;

/** True when a value decides what programs run. */
function decidesPrograms(name: string, value: string | undefined): boolean {
  if (!runsCode.test(name)) return false;
  return !(/PAGER|EDITOR|VISUAL/.test(name) && value !== undefined && changesNothing.test(value));
}

/** A variable that programs started here will see. */
export function judgeVariable(
  name: string,
  value: string | undefined,
  report: { refuse(rule: string, reason: string, more: { held: true }): void; unresolved(reason: string): void },
): void {
  if (isRefusedVariable(name, value))
    report.refuse("floor/environment", `${name} makes other programs run what it says.`, { held: true });
  else if (decidesPrograms(name, value)) report.unresolved(`a value for ${name}, which decides what programs run`);
}
