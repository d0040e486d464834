// What the bundler makes of a style: nothing that a script sees.
declare module "*.css";
