-- What the search says of a page. Quarto takes the first block of a page for it and drops the headings in that block:
-- of a page that begins with a heading, every notebook among them, the first section would lose its name. Its
-- description stands before it instead, hidden.

return {
  {
    Pandoc = function(document)
      local first = document.blocks[1]
      if not first or first.t ~= "Header" then
        return nil
      end
      local said = pandoc.utils.stringify(document.meta.description or "")
      local hidden = pandoc.Attr("", { "description" }, { hidden = "hidden" })
      document.blocks:insert(1, pandoc.Div(pandoc.Plain(said), hidden))
      return document
    end,
  },
}
