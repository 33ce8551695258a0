"use strict";
// Everything here is a convenience: each page works without it.

const said = document.querySelector("[data-said]");
const find = document.querySelector("[data-find]");
const keys = document.getElementById("shortcuts");

document.querySelectorAll("[data-with-script]").forEach((element) => { element.hidden = false; });

// Copying. Browsers give no clipboard to pages by plain HTTP; there the old way still works.
function copyByHand(text) {
  const field = document.createElement("textarea");
  field.value = text;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (!done) throw new Error("refused");
}

for (const button of document.querySelectorAll("[data-copy]")) {
  const words = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      if (navigator.clipboard) await navigator.clipboard.writeText(button.dataset.copy);
      else copyByHand(button.dataset.copy);
      button.textContent = said.textContent = "Copied";
    } catch {
      button.textContent = said.textContent = "Not allowed";
    }
    button.focus();
    setTimeout(() => { button.textContent = words; said.textContent = ""; }, 1600);
  });
}

// A menu wider than the screen shows where one is.
document.querySelector(".rooms :is([aria-current], .within)")?.scrollIntoView({ block: "nearest", inline: "center" });

// A graph wider than the screen begins at its middle.
for (const graph of document.querySelectorAll(".graph")) graph.scrollLeft = (graph.scrollWidth - graph.clientWidth) / 2;

// Colours without a reload
for (const button of document.querySelectorAll(".colours button")) {
  button.addEventListener("click", (event) => {
    event.preventDefault();
    const wanted = button.value;
    const secure = location.protocol === "https:" ? "; Secure" : "";
    const age = wanted === "auto" ? 0 : 31536000;
    document.cookie = `ioc_theme=${wanted}; Path=/; SameSite=Lax; Max-Age=${age}${secure}`;
    if (wanted === "auto") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = wanted;
    for (const other of document.querySelectorAll(".colours button")) {
      other.setAttribute("aria-pressed", String(other === button));
    }
  });
}

// Rows that are ticked, copied in one go
const ticks = [...document.querySelectorAll("input[form=picked][name=id]")];
const picked = document.querySelector("[data-picked]");
const all = document.querySelector("[data-pick-all]");

function count() {
  const ticked = ticks.filter((tick) => tick.checked).length;
  picked.querySelector("[data-picked-count]").textContent = ticked ? `Copy ${ticked} as` : "Select rows to copy";
  for (const button of picked.querySelectorAll("button")) button.disabled = !ticked;
  if (all) { all.checked = ticked === ticks.length; all.indeterminate = ticked > 0 && ticked < ticks.length; }
}

if (picked) {
  let last = 0;
  ticks.forEach((tick, number) => tick.addEventListener("click", (event) => {
    if (event.shiftKey) for (let i = Math.min(last, number); i <= Math.max(last, number); i++) ticks[i].checked = tick.checked;
    last = number;
    count();
  }));
  all?.addEventListener("change", () => { for (const tick of ticks) tick.checked = all.checked; count(); });
  picked.addEventListener("submit", async (event) => {
    const button = event.submitter;
    if (!navigator.clipboard || !button) return;
    event.preventDefault();
    const words = button.textContent;
    try {
      const query = new URLSearchParams(new FormData(picked, button));
      const answer = await fetch(`/selection?${query}`);
      if (!answer.ok) throw new Error(String(answer.status));
      await navigator.clipboard.writeText(await answer.text());
      button.textContent = said.textContent = "Copied";
    } catch {
      picked.submit();
    }
    setTimeout(() => { button.textContent = words; said.textContent = ""; }, 1600);
  });
  count();
}

if (matchMedia("(max-width: 62rem)").matches) {
  for (const fold of document.querySelectorAll("[data-folded-when-narrow]")) fold.open = false;
}

// Keys
const rooms = { h: "/", i: "/search", a: "/articles", m: "/malware", w: "/weekly", f: "/focus" };
const hits = [...document.querySelectorAll("[data-hit]")];
let at = -1;
let going = false;

function isTyping(target) {
  if (target.type === "checkbox") return false;
  return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

function step(by) {
  if (!hits.length) return;
  hits[at]?.classList.remove("at");
  at = Math.max(0, Math.min(hits.length - 1, at + by));
  hits[at].classList.add("at");
  hits[at].scrollIntoView({ block: "nearest" });
  hits[at].querySelector("a")?.focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || keys.open) return;
  if (going) {
    going = false;
    if (rooms[event.key]) location.assign(rooms[event.key]);
    return;
  }
  if (event.key === "/" && find) { event.preventDefault(); find.focus(); find.select(); }
  else if (event.key === "?") keys.showModal();
  else if (event.key === "g") { going = true; setTimeout(() => { going = false; }, 900); }
  else if (event.key === "j") step(1);
  else if (event.key === "k") step(-1);
  else if (event.key === "x") hits[at]?.querySelector("input[name=id]")?.click();
  else if (event.key === "d") document.querySelector("[data-display=values] [aria-pressed=false]")?.click();
  else if (event.key === "c") (hits[at]?.querySelector("[data-copy]") ?? document.querySelector("[data-copy-first]"))?.click();
});

// A submission keeps itself up to date, less and less often
function watch(wait) {
  const live = document.querySelector("[data-live]");
  if (!live) return;
  setTimeout(async () => {
    try {
      const answer = await fetch(live.dataset.live, { headers: { Accept: "text/html" } });
      if (answer.ok) {
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        const fresh = page.getElementById(live.id);
        if (fresh && fresh.textContent !== live.textContent) live.replaceWith(document.adoptNode(fresh));
        document.title = page.title;
      }
    } catch { /* the next try may do */ }
    watch(Math.min(wait * 1.3, 10000));
  }, wait);
}
watch(1000);
