-- Captions at the pictures. Quarto hands a cell's captions to whatever it shows with `display`, in turn: where the
-- verdict of a check comes before the picture, the caption stands below the verdict, and the picture has none.

local function is_shown(block)
  return block.t == "Div" and block.classes:includes("cell-output-display")
end

local function picture_of(block)
  local found
  block:walk({ Image = function(image) found = found or image end })
  return found
end

-- Takes the caption out of an output that is no picture: the words that Quarto put below what it shows as it is.
local function misplaced(block)
  local last = block.content[#block.content]
  local as_it_is = block.content[1].t == "RawBlock" or block.content[1].t == "CodeBlock"
  if #block.content < 2 or not as_it_is or last.t ~= "Para" then
    return nil
  end
  block.content:remove(#block.content)
  return last.content
end

-- The output of a picture as a figure with these words.
local function figure(block, words)
  return block:walk({
    Para = function(paragraph)
      local image = #paragraph.content == 1 and paragraph.content[1]
      if not image or image.t ~= "Image" then
        return nil
      end
      image.caption = words
      return pandoc.Figure({ pandoc.Plain({ image }) }, { pandoc.Plain(words) })
    end,
  })
end

local function cell(div)
  if not div.classes:includes("cell") then
    return nil
  end
  local waiting = pandoc.List()
  for place, block in ipairs(div.content) do
    if is_shown(block) then
      local picture = picture_of(block)
      if not picture then
        waiting:insert(misplaced(block))
      elseif #picture.caption == 0 and #waiting > 0 then
        div.content[place] = figure(block, waiting:remove(1))
      end
    end
  end
  return div
end

return { { Div = cell } }
