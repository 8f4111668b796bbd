/** What other agents' tools call the path of a file. */
export const filePathNames = {
  path: "file_path",
  filePath: "file_path",
  filepath: "file_path",
  filename: "file_path",
  file: "file_path",
  absolute_path: "file_path",
  target_file: "file_path",
} as const;
