-- A table with a second index, filled and queried in memory: real B-trees for valgrind to watch.
create table orders (id integer primary key, customer integer, note text);
with recursive numbers(i) as (select 1 union all select i + 1 from numbers where i < 15000)
  insert into orders select i, i * 7919 % 1000003, printf('order %d', i) from numbers;
create index by_customer on orders (customer);
select count(*), sum(length(note)) from orders where customer between 1000 and 200000;
