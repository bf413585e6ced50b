/** Stops with a sentence when this is not the Node 24 of the lockfile: an older one cannot even load a `.ts` file. */
export function requireNode24() {
  if (Number(process.versions.node.split('.')[0]) >= 24) return;
  console.error(
    `This is Node ${process.versions.node}; Node 24 of the lockfile is missing. Run "npx -y pnpm@12 install" and look at its errors.`,
  );
  process.exit(1);
}
