/** The header of the pages beside the console. */
const PAGES = [
  ["./", "Console"],
  ["./docs", "API"],
  ["./sandbox", "Sandbox"],
  ["./verify", "Verify"],
] as const;

export const siteHeader = (current: (typeof PAGES)[number][0]): string => {
  const links = PAGES.map(
    ([address, name]) =>
      `<li><a href="${address}"${address === current ? ' aria-current="page"' : ""}>${name}</a></li>`,
  );
  return `<header class="site">
      <span class="brand"><i aria-hidden="true"></i>Prooftrail</span>
      <nav aria-label="Pages"><ul>${links.join("")}</ul></nav>
    </header>`;
};
