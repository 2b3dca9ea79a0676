-- Notebook cells as sections of a page: a heading from each labelled cell, and folds that say what is in them.
--
-- "# Cell 4: Reward function", the first line of a code cell, becomes the heading "Cell 4: Reward function" and the
-- fold "Show the reward function". The notebook holds that text once. Cell 0, which Quarto reads as settings, is shown
-- as what it is. A picture without an alternative text gets the
-- words of its cell.

-- Words before which no "the" fits, as it does not before an acronym.
local WITHOUT_THE = {}
for word in ("a an the one two three both some each every what how why where on in by with"):gmatch("%a+") do
  WITHOUT_THE[word] = true
end
local LONGEST = 70 -- letters of what a fold says it holds

-- What a fold says, of "Reward function": "Show the reward function". As `fold` in checker/pages/cells.py.
local function fold(title)
  title = title:gsub("%s*[:(].*$", "")
  if title == "" or utf8.len(title) > LONGEST then
    return "Show the code"
  end
  local word = title:match("^%w+") or ""
  if word:match("^%u%l*$") then
    title = title:sub(1, 1):lower() .. title:sub(2)
  end
  local alone = WITHOUT_THE[word:lower()] or word:match("^%u%u+$")
  return (alone and "Show " or "Show the ") .. title
end

local function first_line(code)
  return code.text:match("^%s*([^\n]*)") or ""
end

-- The code block of a cell, nil in one without.
local function code_of(cell)
  for _, block in ipairs(cell.content) do
    if block.t == "CodeBlock" and block.classes:includes("cell-code") then
      return block
    end
  end
end

-- Pictures for which the notebook gives no text are named after their cell.
local function with_texts(div, words)
  return div:walk({
    Image = function(image)
      if #image.caption == 0 and not image.attributes["fig-alt"] and not image.attributes.alt then
        image.attributes["fig-alt"] = "Figure: " .. words
      end
      return image
    end,
  })
end

-- Headings of a notebook stand one level higher than on a page, where the title is the first; `_quarto.yml` shifts them.
local SECTION = 1

local function cell(div)
  if not div.classes:includes("cell") then
    return nil
  end
  local code = code_of(div)
  if code == nil then
    return nil
  end
  local line = first_line(code)
  local number, title = line:match("^#+%s*[Cc]ell%s+(%d+)%s*[:.%-]*%s*(.-)%s*$")
  local words = title or line:match("^#+%s*(.-)%s*$")
  if words and words ~= "" and not code.attributes["code-summary"] then
    code.attributes["code-summary"] = fold(words)
  end
  div = with_texts(div, words or "output of a cell")
  if not number then
    return div
  end
  local heading = pandoc.Header(SECTION, "Cell " .. number .. ": " .. title, pandoc.Attr("section-" .. number))
  return { heading, div }
end

-- The place of "# Cell 1: Task definition and plan" is that of every other section: "section-1".
local function text_section(header)
  local number = pandoc.utils.stringify(header):match("^Cell (%d+)")
  if header.level ~= SECTION or not number then
    return nil
  end
  header.identifier = "section-" .. number
  return header
end

-- Cell 0 of a notebook: a heading and the settings, folded; nothing in a page that is no notebook.
local function settings()
  local path = quarto.doc.input_file
  local file = path:match("%.ipynb$") and io.open(path, "r")
  if not file then
    return {}
  end
  local notebook = quarto.json.decode(file:read("a"))
  file:close()
  local source = notebook.cells[1] and notebook.cells[1].source or ""
  source = type(source) == "table" and table.concat(source) or source
  if not source:match("^%s*%-%-%-") then
    return {}
  end
  return {
    pandoc.Header(SECTION, "Cell 0: Quarto's YAML header", pandoc.Attr("section-0")),
    pandoc.RawBlock("html", "<details class=\"code-fold\"><summary>Show Quarto's YAML header</summary>"),
    pandoc.CodeBlock(source, pandoc.Attr("", { "yaml" })),
    pandoc.RawBlock("html", "</details>"),
  }
end

return {
  { Header = text_section },
  { Div = cell },
  {
    Pandoc = function(document)
      local blocks = pandoc.Blocks(settings())
      blocks:extend(document.blocks)
      document.blocks = blocks
      return document
    end,
  },
}
