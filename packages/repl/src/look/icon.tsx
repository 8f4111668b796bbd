import add from "@vscode/codicons/src/icons/add.svg";
import arrowDown from "@vscode/codicons/src/icons/arrow-down.svg";
import attach from "@vscode/codicons/src/icons/attach.svg";
import check from "@vscode/codicons/src/icons/check.svg";
import checklist from "@vscode/codicons/src/icons/checklist.svg";
import chevron from "@vscode/codicons/src/icons/chevron-right.svg";
import slash from "@vscode/codicons/src/icons/circle-slash.svg";
import close from "@vscode/codicons/src/icons/close.svg";
import chat from "@vscode/codicons/src/icons/comment-discussion.svg";
import stop from "@vscode/codicons/src/icons/debug-stop.svg";
import diff from "@vscode/codicons/src/icons/diff.svg";
import discard from "@vscode/codicons/src/icons/discard.svg";
import edit from "@vscode/codicons/src/icons/edit.svg";
import more from "@vscode/codicons/src/icons/ellipsis.svg";
import error from "@vscode/codicons/src/icons/error.svg";
import file from "@vscode/codicons/src/icons/file.svg";
import gear from "@vscode/codicons/src/icons/gear.svg";
import branch from "@vscode/codicons/src/icons/git-branch.svg";
import compare from "@vscode/codicons/src/icons/git-compare.svg";
import history from "@vscode/codicons/src/icons/history.svg";
import info from "@vscode/codicons/src/icons/info.svg";
import lightbulb from "@vscode/codicons/src/icons/lightbulb.svg";
import list from "@vscode/codicons/src/icons/list-ordered.svg";
import loading from "@vscode/codicons/src/icons/loading.svg";
import note from "@vscode/codicons/src/icons/note.svg";
import pulse from "@vscode/codicons/src/icons/pulse.svg";
import question from "@vscode/codicons/src/icons/question.svg";
import fork from "@vscode/codicons/src/icons/repo-forked.svg";
import search from "@vscode/codicons/src/icons/search.svg";
import send from "@vscode/codicons/src/icons/send.svg";
import shield from "@vscode/codicons/src/icons/shield.svg";
import terminal from "@vscode/codicons/src/icons/terminal.svg";
import tools from "@vscode/codicons/src/icons/tools.svg";
import trash from "@vscode/codicons/src/icons/trash.svg";
import warning from "@vscode/codicons/src/icons/warning.svg";

const icons = {
  add,
  arrowDown,
  attach,
  branch,
  chat,
  check,
  checklist,
  chevron,
  close,
  compare,
  diff,
  discard,
  edit,
  error,
  file,
  fork,
  gear,
  history,
  info,
  lightbulb,
  list,
  loading,
  more,
  note,
  pulse,
  question,
  search,
  send,
  shield,
  slash,
  stop,
  terminal,
  tools,
  trash,
  warning,
};

export type IconName = keyof typeof icons;

/** A picture next to words that say the same, so it is hidden from screen readers. */
export function Icon({ name, spin = false }: { readonly name: IconName; readonly spin?: boolean }) {
  const svg = { __html: icons[name] };
  return <span class={spin ? "icon icon-spin" : "icon"} aria-hidden="true" dangerouslySetInnerHTML={svg} />;
}
