/** The build turns an icon into its text. */
declare module "*.svg" {
  const text: string;
  export default text;
}
